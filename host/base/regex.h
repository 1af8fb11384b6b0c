/* SPDX-License-Identifier: Apache-2.0 */
/* PCRE2 with limits on the cost of patterns and searches, since patterns come from files and plugins. */
#ifndef GRAFT_BASE_REGEX_H
#define GRAFT_BASE_REGEX_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

struct graft_regex;

/* [any] Compiles a UTF-8 pattern (with Unicode properties) of at most 64 KiB. Errors (status `code`, with `source`)
 * name the fault and its offset. The caller frees the result, which is immutable: several threads may search with
 * it. */
int graft_regex_compile(const char *pattern, size_t length, const char *source, int code, struct graft_regex **regex,
                        struct graft_error *error);
void graft_regex_free(struct graft_regex *regex);

/* A match: bytes [start, end) of the text. */
struct graft_regex_match {
    size_t start;
    size_t end;
};
enum {
    GRAFT_REGEX_NO_MATCH = 0,
    GRAFT_REGEX_MATCH = 1,
    GRAFT_REGEX_TOO_COSTLY = -1, /* the search reached a limit */
    GRAFT_REGEX_BAD_TEXT = -2,   /* the text is not UTF-8, or `from` is inside of a character */
    GRAFT_REGEX_NO_MEMORY = -3,
};

/* [any] Searches `text` from byte `from` on; lookbehinds and \b see the text before `from`. The text must be valid
 * UTF-8: a search from 0 checks that, later ones rely on it, so that walking through a long text takes linear time.
 * Scratch memory is kept per thread, so that only a thread's first search allocates. */
int graft_regex_search(const struct graft_regex *regex, const char *text, size_t length, size_t from,
                       struct graft_regex_match *match);

/* [any] The number of the group of that name, or 0; and how many groups there are. */
size_t graft_regex_group(const struct graft_regex *regex, const char *name);
size_t graft_regex_groups(const struct graft_regex *regex);

/* The position of a group that took no part in a match. */
#define GRAFT_REGEX_NOWHERE ((size_t)-1)

/* [any] Like graft_regex_search from byte 0. Also sets groups[i] to the position of group i, for i from 0 (the whole
 * match) to graft_regex_groups. */
int graft_regex_search_groups(const struct graft_regex *regex, const char *text, size_t length,
                              struct graft_regex_match *groups);

#endif
