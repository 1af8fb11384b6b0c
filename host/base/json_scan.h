/* SPDX-License-Identifier: Apache-2.0 */
/* What is decided on a JSON text without parsing it. All functions are [any]. */
#ifndef GRAFT_BASE_JSON_SCAN_H
#define GRAFT_BASE_JSON_SCAN_H

#include <stddef.h>

/* Whether brackets outside strings nest deeper than `limit`: the parser recurses, and a text must not choose how far.
 */
int graft_json_scan_deeper(const char *text, size_t length, size_t limit);

/* A copy of a text that Python's json reads, for a parser of plain JSON. Every integer that int64 does not hold has
 * ".0" behind it, so that it is read as a real. Infinity, -Infinity and NaN, which Python writes, and reals too large
 * for a double are {"__float__": "Infinity"} and so on, as transformers writes them. With `repairs` an
 * escape of half a surrogate pair is that of U+FFFD. The caller frees it with graft_free; NULL if memory ran out. */
char *graft_json_scan_widen(const char *text, size_t length, int repairs, size_t *new_length);

#endif
