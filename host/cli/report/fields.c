/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/fields.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/output.h"

enum { MAX_NAMED = 12 };

static int is_same_file(const struct graft_model_field *a, const struct graft_model_field *b) {
    return strcmp(a->file, b->file) == 0 && (a->adapter == b->adapter || (a->adapter != NULL && b->adapter != NULL &&
                                                                          strcmp(a->adapter, b->adapter) == 0));
}

/* Adds a line with all fields that have the file and the use of field number `first`. */
static void add_line(struct graft_text *text, const struct graft_model *model, size_t first) {
    const struct graft_model_field *of = graft_model_field_at(model, first), *field;
    size_t n = 0;
    graft_text_printf(text, "%s%s%s: ", of->file, of->adapter != NULL ? " of " : "",
                      of->adapter != NULL ? of->adapter : "");
    for (size_t i = first; (field = graft_model_field_at(model, i)) != NULL; i++) {
        if (field->use == of->use && is_same_file(field, of) && n++ < MAX_NAMED) {
            graft_text_printf(text, "%s%s (%s)", n > 1 ? ", " : "", field->name, field->value);
        }
    }
    if (n > MAX_NAMED) {
        graft_text_printf(text, " and %zu more", n - MAX_NAMED);
    }
}

int graft_report_fields_text(const struct graft_model *model, const char *before, FILE *out,
                             struct graft_error *error) {
    static const struct {
        int32_t use;
        const char *label, *after;
    } lines[] = {{GRAFT_FIELD_NOT_USED, "not used", ""}, {GRAFT_FIELD_IGNORED, "ignored", ", by --ignore-field"}};
    const struct graft_model_field *field;
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        const struct graft_model_field *last = NULL; /* the previous field, to group fields by file */
        for (size_t i = 0; (field = graft_model_field_at(model, i)) != NULL; i++) {
            struct graft_text text = {0};
            if (field->use != lines[k].use || (last != NULL && is_same_file(last, field))) {
                continue;
            }
            last = field;
            add_line(&text, model, i);
            if (!text.failed) {
                graft_output_line(out, "%s%s %s%s", before, lines[k].label, text.bytes, lines[k].after);
            }
            int failed = text.failed;
            graft_text_free(&text);
            if (failed) {
                return graft_fail_memory(error, "report");
            }
        }
    }
    return GRAFT_OK;
}
