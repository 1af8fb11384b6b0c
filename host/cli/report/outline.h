/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON document for people. */
#ifndef GRAFT_CLI_REPORT_OUTLINE_H
#define GRAFT_CLI_REPORT_OUTLINE_H

#include <stdio.h>

#include "base/json.h"

/* A line for each "key: value", indented by depth, a '-' before each element of an array. What is null or empty is left
 * out; short arrays stand on one line; control characters are replaced. */
int graft_outline_print(const graft_json *document, FILE *out, struct graft_error *error);

#endif
