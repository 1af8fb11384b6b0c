/* SPDX-License-Identifier: Apache-2.0 */
/* What was decided and done for a model, for people and for programs. */
#ifndef GRAFT_CLI_REPORT_H
#define GRAFT_CLI_REPORT_H

#include <stdio.h>

#include "base/json.h"
#include "library/library.h"

/* The load report: who replaced what, how tensors became parameters, what it cost. */
int graft_report_text(const struct graft_model *model, const struct graft_library *library, FILE *out,
                      struct graft_error *error);

/* The document of `plan --json`; the caller frees it. NULL when memory ran out. */
graft_json *graft_report_json(const struct graft_model *model, const struct graft_library *library);

/* With --strict: an error when anything is missing, unexpected or mismatched. */
int graft_report_strict(const struct graft_model *model, struct graft_error *error);

#endif
