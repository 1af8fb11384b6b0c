/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/report/plan_diff.h"
#include "cli/report/plan_html.h"
#include "cli/report/report.h"

/* Makes the JSON document once for --json, --html and --diff. */
static int with_document(const struct graft_options *options, const struct graft_model *model,
                         const struct graft_library *library, const graft_json *document, struct graft_error *error) {
    int status = GRAFT_OK;
    if (options->html != NULL) {
        status = graft_plan_html_write(model, library, document, options->html, error);
    }
    if (status == GRAFT_OK && options->json) {
        status = graft_output_json(document, stdout, 1, error);
    }
    return status == GRAFT_OK && options->diff != NULL ? graft_plan_diff(document, options->diff, stdout, error)
                                                       : status;
}

int graft_command_plan(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error) {
    int status = GRAFT_OK;
    if (options->json || options->html != NULL || options->diff != NULL) {
        graft_json *document = graft_report_json(model);
        status = document != NULL ? with_document(options, model, library, document, error)
                                  : graft_fail_memory(error, "plan");
        graft_json_free(document);
    }
    if (status == GRAFT_OK && !options->json && options->diff == NULL) {
        status = graft_report_text(model, library, 0, stdout, error);
        status = status == GRAFT_OK && options->sha256 ? graft_report_sha256(library, stdout, error) : status;
    }
    return status == GRAFT_OK ? graft_output_flush(stdout, error) : status;
}
