/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_edit.h"

#include <string.h>

#include "base/json.h"
#include "base/json_scan.h"

static int is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_spaces(const char *text, size_t length, size_t at) {
    while (at < length && is_space(text[at])) {
        at++;
    }
    return at;
}

/* The place behind the value that starts at `at`. */
static size_t skip_value(const char *text, size_t length, size_t at) {
    size_t depth = 0;
    size_t end = at;
    while (at < length) {
        char c = text[at];
        if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
            break;
        }
        if (c == '"') {
            at = graft_json_scan_string(text, length, at);
        } else {
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            at++;
        }
        end = is_space(c) ? end : at;
    }
    return end;
}

/* Whether the literal, quotes included, means this key; it may be written with escapes. */
static int is_key(const char *literal, size_t length, const char *key) {
    graft_json *value = NULL;
    size_t n = 0;
    if (memchr(literal, '\\', length) == NULL) {
        return length == strlen(key) + 2 && memcmp(literal + 1, key, length - 2) == 0;
    }
    int same = graft_json_parse(literal, length, key, &value, NULL) == GRAFT_OK &&
               graft_json_string(value, &n) != NULL && n == strlen(key) &&
               memcmp(graft_json_string(value, NULL), key, n) == 0;
    graft_json_free(value);
    return same;
}

/* Puts `value` in the place of bytes [begin, end) of the text. */
static void splice(const char *text, size_t length, size_t begin, size_t end, const char *value,
                   struct graft_text *edited) {
    graft_text_add(edited, text, begin);
    graft_text_add_string(edited, value);
    graft_text_add(edited, text + end, length - end);
}

/* A new last member, behind the one that ends at `end`, on a line of its own if that one, from `begin` on, is. */
static void append(const char *text, size_t length, size_t begin, size_t end, const char *key, const char *value,
                   struct graft_text *edited) {
    struct graft_text member = {0};
    size_t spaces = begin;
    while (spaces > 0 && is_space(text[spaces - 1])) {
        spaces--;
    }
    graft_text_printf(&member, "%s%.*s\"%s\": %s", end > begin ? "," : "", (int)(begin - spaces), text + spaces, key,
                      value);
    edited->failed |= member.failed;
    if (!member.failed) {
        splice(text, length, end, end, member.bytes, edited);
    }
    graft_text_free(&member);
}

void graft_json_edit_member(const char *text, size_t length, const char *key, const char *value,
                            struct graft_text *edited) {
    size_t at = skip_spaces(text, length, 0) + 1; /* behind the '{' */
    size_t last_begin = at, last_end = at;
    while ((at = skip_spaces(text, length, at)) < length && text[at] == '"') {
        size_t name_end = graft_json_scan_string(text, length, at);
        size_t begin = skip_spaces(text, length, skip_spaces(text, length, name_end) + 1); /* behind the ':' */
        size_t end = skip_value(text, length, begin);
        if (is_key(text + at, name_end - at, key)) {
            splice(text, length, begin, end, value, edited);
            return;
        }
        last_begin = at;
        last_end = end;
        at = skip_spaces(text, length, end) + 1; /* behind the ',' or '}' */
    }
    append(text, length, last_begin, last_end, key, value, edited);
}
