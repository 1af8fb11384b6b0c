/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "cli/report/report.h"

graft_json *graft_report_json(const struct graft_model *model) {
    struct graft_text text = {0};
    graft_json *document = NULL;
    if (graft_model_plan_json(model, 0, &text, NULL) == GRAFT_OK) {
        (void)graft_json_parse(text.bytes, text.length, "plan", &document, NULL);
    }
    graft_text_free(&text);
    return document;
}

void graft_report_sha256_json(struct graft_writer *writer, graft_json *object, const struct graft_library *library,
                              size_t i) {
    char digits[GRAFT_SHA256_LENGTH + 1];
    int known = graft_library_plugin_sha256(library, i, digits, NULL) == GRAFT_OK && digits[0] != '\0';
    graft_writer_set_string(writer, object, "sha256", known ? digits : NULL);
}
