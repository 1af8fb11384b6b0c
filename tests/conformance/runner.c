/* SPDX-License-Identifier: Apache-2.0 */
/* conformance FILE.json...: runs the cases of each file with the schema that knows them. FILE.safetensors, if present,
 * holds the tensors that the cases name. */
#include "runner.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tensors.h"

static const struct schema *const schemas[] = {&key_renaming_schema, &load_report_schema, &fusion_mapping_schema,
                                               &patch_resolution_schema, &weight_transforms_schema};

enum { MAX_FILE_BYTES = 64 << 20 };

struct sums {
    size_t passed;
    size_t deviations;
    size_t failed;
};

enum verdict fail(struct graft_text *why, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (why->length == 0) {
        graft_text_add_string(why, line);
    }
    return FAILED;
}

void deviate(struct graft_text *why, const char *reason) {
    if (why->length == 0 || strstr(why->bytes, reason) == NULL) {
        graft_text_printf(why, "%s%s", why->length > 0 ? "; " : "", reason);
    }
}

const char *text_at(const graft_json *object, const char *key) {
    const char *text = graft_json_string(graft_json_get(object, key), NULL);
    return text != NULL ? text : "";
}

int same_json(const graft_json *a, const graft_json *b) {
    char *left = graft_json_dump(a, 0);
    char *right = graft_json_dump(b, 0);
    int same = left != NULL && right != NULL && strcmp(left, right) == 0;
    graft_free(left);
    graft_free(right);
    return same;
}

static const struct schema *schema_of(const graft_json *row) {
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        if (schemas[i]->knows(row)) {
            return schemas[i];
        }
    }
    return NULL;
}

static void run_case(const char *file, const graft_json *row, struct sums *sums) {
    const struct schema *schema = schema_of(row);
    struct graft_text why = {0};
    enum verdict verdict =
        schema != NULL ? schema->judge(row, &why) : fail(&why, "no known schema: type \"%s\"", text_at(row, "type"));
    sums->passed += verdict != FAILED;
    sums->failed += verdict == FAILED;
    sums->deviations += verdict == DEVIATION;
    if (verdict != PASSED) {
        (void)printf("%s: %s: %s: %s\n", file, verdict == FAILED ? "failed" : "deviation", text_at(row, "name"),
                     why.length > 0 ? why.bytes : "");
    }
    graft_text_free(&why);
}

static char folder[4096];

const char *case_folder(void) {
    return folder;
}

static void run_file(const char *file, struct sums *sums) {
    const char *slash = strrchr(file, '/');
    (void)snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - file) : 1, slash != NULL ? file : ".");
    struct graft_error error = graft_error_none();
    graft_json *document = NULL;
    if (graft_json_read(file, MAX_FILE_BYTES, &document, &error) != GRAFT_OK) {
        (void)printf("%s: failed: %s\n", file, error.message);
        sums->failed++;
        return;
    }
    const graft_json *cases = graft_json_get(document, "cases");
    if (graft_json_size(cases) == 0) {
        (void)printf("%s: failed: no known schema: expected an array \"cases\"\n", file);
        sums->failed++;
    }
    for (size_t i = 0; i < graft_json_size(cases); i++) {
        run_case(file, graft_json_at(cases, i), sums);
    }
    graft_json_free(document);
}

int main(int argc, char **argv) {
    struct sums sums = {0};
    if (argc < 2) {
        (void)fprintf(stderr, "usage: conformance FILE.json...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        if (tensors_open_beside(argv[i]) != 0) {
            sums.failed++;
        }
        run_file(argv[i], &sums);
        tensors_close();
    }
    (void)printf("%zu of them as documented deviations\n", sums.deviations);
    (void)printf("%zu passed, %zu failed\n", sums.passed, sums.failed);
    return sums.failed > 0;
}
