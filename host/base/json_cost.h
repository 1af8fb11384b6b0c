/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_BASE_JSON_COST_H
#define GRAFT_BASE_JSON_COST_H

#include <stddef.h>

/* [any] How much memory graft_json_parse takes at most for a text, which may be anything: a document of `{}` takes
 * eighty times as much as its text. Nothing is allocated to find out. */
size_t graft_json_cost(const char *text, size_t length);

#endif
