/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_BASE_JSON_COST_H
#define GRAFT_BASE_JSON_COST_H

#include <stddef.h>

/* [any] An upper bound on the memory that graft_json_parse takes for a text, which need not be valid: a document of
 * many `{}` takes eighty times as much as its text. Finding the bound allocates nothing. */
size_t graft_json_cost(const char *text, size_t length);

#endif
