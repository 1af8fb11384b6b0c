/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON in place, without building a tree: vocabularies have hundreds of thousands of members and headers of
 * weights tens of thousands of tensors, and building trees would take most of the time to load them. The text must be
 * valid UTF-8; otherwise it is untrusted. Nothing recurses, so depth costs nothing. All functions are [any].
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

/* Whether `c` comes next, after white space. */
static inline int graft_json_cursor_sees(struct graft_json_cursor *cursor, char c) {
    while (cursor->at < cursor->length && graft_json_is_space(cursor->text[cursor->at])) {
        cursor->at++;
    }
    return cursor->at < cursor->length && cursor->text[cursor->at] == c;
}

/* Skips `c` if it comes next, after white space. Returns whether it did. */
static inline int graft_json_cursor_take(struct graft_json_cursor *cursor, char c) {
    int seen = graft_json_cursor_sees(cursor, c);
    cursor->at += (size_t)seen;
    return seen;
}

/* Whether element number `n` of an array or object follows, whose opening bracket was skipped: returns 1 and skips the
 * comma before the element; 0 and skips `close`; or -1 if neither follows. */
static inline int graft_json_cursor_more(struct graft_json_cursor *cursor, char close, size_t n) {
    if (graft_json_cursor_take(cursor, close)) {
        return 0;
    }
    return n == 0 || graft_json_cursor_take(cursor, ',') ? 1 : -1;
}

/* Decodes the next string and adds it to `out`. Returns 0, or -1 if the next value is not a valid string. */
int graft_json_cursor_string(struct graft_json_cursor *cursor, struct graft_text *out);

/* The next string, as a part of the text, if it has no escapes. Returns 0, or -1 with the cursor unmoved. */
int graft_json_cursor_plain(struct graft_json_cursor *cursor, const char **string, size_t *length);

/* Skips the next string. Returns whether it equals `wanted`, or -1 if the next value is not a valid string. */
int graft_json_cursor_is(struct graft_json_cursor *cursor, const char *wanted);

/* Reads the next integer. An integer outside of int64 becomes the nearest int64. Returns 0 or -1. */
int graft_json_cursor_integer(struct graft_json_cursor *cursor, int64_t *number);

/* Skips the next value, which is only checked as far as finding its end requires; a number or word ends at the next
 * bracket, comma or white space. Returns 0 or -1. */
int graft_json_cursor_skip(struct graft_json_cursor *cursor);

#endif
