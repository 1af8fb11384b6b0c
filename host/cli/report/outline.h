/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a JSON document in a form for people. */
#ifndef GRAFT_CLI_REPORT_OUTLINE_H
#define GRAFT_CLI_REPORT_OUTLINE_H

#include <stdio.h>

#include "base/json.h"

/* Prints a line for each "key: value", indented by depth, with '-' before elements of arrays. Omits null and empty
 * values, prints short arrays on one line, and replaces control characters. */
int graft_outline_print(const graft_json *document, FILE *out, struct graft_error *error);

#endif
