/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JSON in place, without a tree: vocabularies have hundreds of thousands of members and headers of weights tens
 * of thousands of tensors, and a tree of them takes most of a load's time. The text must be valid UTF-8; beyond that it
 * is untrusted. Nothing recurses, so depth costs nothing. Functions are [any].
 */
#ifndef GRAFT_BASE_JSON_CURSOR_H
#define GRAFT_BASE_JSON_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct graft_json_cursor {
    const char *text;
    size_t length;
    size_t at;
};

static inline int graft_json_is_space(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Whether `c` comes next, behind white space. */
static inline int graft_json_cursor_sees(struct graft_json_cursor *cursor, char c) {
    while (cursor->at < cursor->length && graft_json_is_space(cursor->text[cursor->at])) {
        cursor->at++;
    }
    return cursor->at < cursor->length && cursor->text[cursor->at] == c;
}

/* The same, and steps over it. */
static inline int graft_json_cursor_take(struct graft_json_cursor *cursor, char c) {
    int seen = graft_json_cursor_sees(cursor, c);
    cursor->at += (size_t)seen;
    return seen;
}

/* Whether element number `n` of the array or object follows whose bracket was taken: 1, behind the comma before it; 0,
 * behind `close`; or -1. */
static inline int graft_json_cursor_more(struct graft_json_cursor *cursor, char close, size_t n) {
    if (graft_json_cursor_take(cursor, close)) {
        return 0;
    }
    return n == 0 || graft_json_cursor_take(cursor, ',') ? 1 : -1;
}

/* Adds the string that comes next to `out`. Returns 0, or -1 when none comes or it is malformed. */
int graft_json_cursor_string(struct graft_json_cursor *cursor, struct graft_text *out);

/* The string that comes next, as it stands in the text, if it has no escapes. Returns 0, or -1 with the cursor before
 * it. */
int graft_json_cursor_plain(struct graft_json_cursor *cursor, const char **string, size_t *length);

/* Steps over the string that comes next. Returns whether it is `wanted`, or -1 as above. */
int graft_json_cursor_is(struct graft_json_cursor *cursor, const char *wanted);

/* The integer that comes next. One outside of int64 becomes the nearest that is not. Returns 0, or -1. */
int graft_json_cursor_integer(struct graft_json_cursor *cursor, int64_t *number);

/* Steps over the value that comes next, looking no closer than to find its end; of a number or a word, that is the next
 * bracket, comma or white space. Returns 0, or -1. */
int graft_json_cursor_skip(struct graft_json_cursor *cursor);

#endif
