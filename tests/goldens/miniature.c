/* SPDX-License-Identifier: Apache-2.0 */
#include "miniature.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../unit/folder.h"
#include "base/alloc.h"
#include "base/file.h"
#include "graft/host/plan.h"

enum { MAX_FILE_BYTES = 1 << 24, MAX_LINE = 2000 };

#define NOISE_TIMES 8.0
#define LEAST_TOLERANCE 5e-6
#define MOST_TOLERANCE 1e-4

double miniature_tolerance(const graft_json *document) {
    const graft_json *noise = graft_json_get(document, "f64_difference");
    return noise == NULL ? MOST_TOLERANCE
                         : fmin(MOST_TOLERANCE, fmax(LEAST_TOLERANCE, NOISE_TIMES * graft_json_real(noise)));
}

int miniature_is_wanted(const char *name, char **names, int n) {
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) {
            return 1;
        }
    }
    return n == 0;
}

static void say(miniature_wrong *wrong, void *data, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(miniature_wrong *wrong, void *data, const char *format, ...) {
    char line[MAX_LINE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    wrong(data, line);
}

void miniature_check_plan(const struct graft_model *model, miniature_wrong *wrong, void *data) {
    const struct graft_plan_info *plan = graft_model_plan(model);
    const struct graft_model_field *field;
    for (size_t i = 0; (field = graft_model_field_at(model, i)) != NULL; i++) {
        if (field->use == GRAFT_FIELD_NOT_USED) {
            say(wrong, data, "%s: %s (%s) is not used", field->file, field->name, field->value);
        }
    }
    for (size_t i = 0; i < plan->n_unexpected; i++) {
        say(wrong, data, "nobody takes the tensor %s", plan->unexpected[i]);
    }
}

void miniature_check_saved(struct graft_model *model, const char *directory, miniature_wrong *wrong, void *data) {
    struct graft_error error = graft_error_none();
    char folder[64];
    char *bytes[2] = {NULL};
    size_t length[2] = {0};
    folder_create(folder);
    char *saved = graft_path_join(folder, "saved");
    const char *const places[] = {directory, saved};
    int status = graft_model_save(model, saved, NULL, &error);
    for (size_t i = 0; i < 2 && status == GRAFT_OK; i++) {
        status = graft_file_read(folder_path(places[i], "model.safetensors"), MAX_FILE_BYTES, GRAFT_ERROR_IO, &bytes[i],
                                 &length[i], &error);
    }
    if (status != GRAFT_OK) {
        say(wrong, data, "%s%s%s", error.source, error.source[0] != '\0' ? ": " : "", error.message);
    } else if (length[0] != length[1] || memcmp(bytes[0], bytes[1], length[0]) != 0) {
        say(wrong, data, "saved, it is another file");
    }
    graft_free(bytes[0]);
    graft_free(bytes[1]);
    graft_free(saved);
    folder_remove(folder);
}
