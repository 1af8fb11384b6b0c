/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/report.h"

int graft_command_plan(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error) {
    if (!options->json) {
        int status = graft_report_text(model, library, stdout, error);
        return status == GRAFT_OK ? graft_output_flush(stdout, error) : status;
    }
    graft_json *document = graft_report_json(model, library);
    if (document == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "plan", "out of memory");
    }
    int status = graft_output_json(document, stdout, 1, error);
    graft_json_free(document);
    return status;
}
