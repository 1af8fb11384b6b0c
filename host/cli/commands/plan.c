/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/report/plan_diff.h"
#include "cli/report/report.h"

static int write_page(const struct graft_model *model, const char *path, struct graft_error *error) {
    struct graft_text page = {0};
    int status = graft_model_plan_html(model, &page, error);
    if (status == GRAFT_OK) {
        const struct graft_file_piece piece = {page.bytes, page.length};
        status = graft_file_write(path, &piece, 1, error);
    }
    graft_text_free(&page);
    return status;
}

/* Makes the JSON document once for --json and --diff. */
static int with_document(const struct graft_options *options, const graft_json *document, struct graft_error *error) {
    int status = options->json ? graft_output_json(document, stdout, 1, error) : GRAFT_OK;
    return status == GRAFT_OK && options->diff != NULL ? graft_plan_diff(document, options->diff, stdout, error)
                                                       : status;
}

int graft_command_plan(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error) {
    int status = options->html != NULL ? write_page(model, options->html, error) : GRAFT_OK;
    if (status == GRAFT_OK && (options->json || options->diff != NULL)) {
        graft_json *document = graft_report_json(model);
        status = document != NULL ? with_document(options, document, error) : graft_fail_memory(error, "plan");
        graft_json_free(document);
    }
    if (status == GRAFT_OK && !options->json && options->diff == NULL) {
        status = graft_report_text(model, library, 0, stdout, error);
        status = status == GRAFT_OK && options->sha256 ? graft_report_sha256(library, stdout, error) : status;
    }
    return status == GRAFT_OK ? graft_output_flush(stdout, error) : status;
}
