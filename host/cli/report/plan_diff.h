/* SPDX-License-Identifier: Apache-2.0 */
/* `plan --diff`: a plan beside one that was saved. */
#ifndef GRAFT_CLI_REPORT_PLAN_DIFF_H
#define GRAFT_CLI_REPORT_PLAN_DIFF_H

#include <stdio.h>

#include "base/json.h"

/* Compares a document of `plan --json` with the one in a file, which is the older: a line in `out` for each thing that
 * was added, removed or changed. A GRAFT_ERROR_VERIFY if there is any, a GRAFT_ERROR_MODEL if the file is no plan. */
int graft_plan_diff(const graft_json *document, const char *file, FILE *out, struct graft_error *error);

#endif
