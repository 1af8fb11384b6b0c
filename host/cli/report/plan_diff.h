/* SPDX-License-Identifier: Apache-2.0 */
/* `plan --diff`: compares a plan with a saved one. */
#ifndef GRAFT_CLI_REPORT_PLAN_DIFF_H
#define GRAFT_CLI_REPORT_PLAN_DIFF_H

#include <stdio.h>

#include "base/json.h"

/* Compares a document of `plan --json` with the older one in a file. Prints a line for everything that was added,
 * removed or changed. Returns GRAFT_ERROR_VERIFY if anything was, GRAFT_ERROR_MODEL if the file is not a plan. */
int graft_plan_diff(const graft_json *document, const char *file, FILE *out, struct graft_error *error);

#endif
