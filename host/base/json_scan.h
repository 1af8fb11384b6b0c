/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and conversions of JSON texts that happen before parsing. All functions are [any]. */
#ifndef GRAFT_BASE_JSON_SCAN_H
#define GRAFT_BASE_JSON_SCAN_H

#include <stddef.h>

/* Whether brackets outside of strings nest deeper than `limit`, since the parser recurses. */
int graft_json_scan_deeper(const char *text, size_t length, size_t limit);

/* Converts a text that Python's json accepts to plain JSON. Integers outside of int64 get ".0" appended, so that they
 * are read as reals. Infinity, -Infinity and NaN, and reals too large for a double, become {"__float__": "Infinity"}
 * and so on, as transformers writes them. With `repairs` 1, an escape of half a surrogate pair becomes that of U+FFFD.
 * The caller frees the copy with graft_free; NULL if memory ran out. */
char *graft_json_scan_widen(const char *text, size_t length, int repairs, size_t *new_length);

#endif
