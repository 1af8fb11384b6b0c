/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JSON in place, without a tree. A published vocabulary has hundreds of thousands of members; a tree of them
 * takes most of a load's time. The text must be valid UTF-8; beyond that it is untrusted. Functions are [any].
 */
#ifndef GRAFT_TOKENIZER_CURSOR_H
#define GRAFT_TOKENIZER_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct graft_cursor {
    const char *text;
    size_t length;
    size_t at;
};

/* Whether `c` comes next, behind white space. */
int graft_cursor_sees(struct graft_cursor *cursor, char c);
/* The same, and steps over it. */
int graft_cursor_take(struct graft_cursor *cursor, char c);

/* Adds the string that comes next to `out`. Returns 0, or -1 when none comes or it is malformed. */
int graft_cursor_string(struct graft_cursor *cursor, struct graft_text *out);

/* The integer that comes next. One outside of int64 becomes the nearest that is not. Returns 0, or -1. */
int graft_cursor_integer(struct graft_cursor *cursor, int64_t *number);

/* Steps over the value that comes next, looking no closer than to find its end. Returns 0, or -1. */
int graft_cursor_skip(struct graft_cursor *cursor);

#endif
