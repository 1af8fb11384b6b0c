/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_edit.h"

#include "base/json_cursor.h"

/* Replaces bytes [begin, end) of the text by `value`. */
static void splice(const char *text, size_t length, size_t begin, size_t end, const char *value,
                   struct graft_text *edited) {
    graft_text_add(edited, text, begin);
    graft_text_add_string(edited, value);
    graft_text_add(edited, text + end, length - end);
}

/* Adds a member after the last one, which is [begin, end) of the text; on a line of its own if the last one is. */
static void append(const char *text, size_t length, size_t begin, size_t end, const char *key, const char *value,
                   struct graft_text *edited) {
    struct graft_text member = {0};
    size_t spaces = begin;
    while (spaces > 0 && graft_json_is_space(text[spaces - 1])) {
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
    struct graft_json_cursor cursor = {text, length, 0};
    (void)graft_json_cursor_take(&cursor, '{');
    size_t last_begin = cursor.at, last_end = cursor.at;
    for (size_t n = 0; graft_json_cursor_more(&cursor, '}', n) > 0; n++) {
        (void)graft_json_cursor_sees(&cursor, '"');
        last_begin = cursor.at;
        int is_key = graft_json_cursor_is(&cursor, key);
        (void)graft_json_cursor_take(&cursor, ':');
        (void)graft_json_cursor_sees(&cursor, '"');
        size_t begin = cursor.at;
        if (is_key < 0 || graft_json_cursor_skip(&cursor) != 0) {
            edited->failed = 1;
            return;
        }
        last_end = cursor.at;
        if (is_key) {
            splice(text, length, begin, cursor.at, value, edited);
            return;
        }
    }
    append(text, length, last_begin, last_end, key, value, edited);
}

void graft_json_edit_remove(const char *text, size_t length, const char *key, struct graft_text *edited) {
    struct graft_json_cursor cursor = {text, length, 0};
    (void)graft_json_cursor_take(&cursor, '{');
    size_t before = cursor.at; /* end of the previous member, or start of the object */
    for (size_t n = 0; graft_json_cursor_more(&cursor, '}', n) > 0; n++) {
        (void)graft_json_cursor_sees(&cursor, '"');
        int is_key = graft_json_cursor_is(&cursor, key);
        (void)graft_json_cursor_take(&cursor, ':');
        if (is_key < 0 || graft_json_cursor_skip(&cursor) != 0) {
            edited->failed = 1;
            return;
        }
        size_t end = cursor.at;
        if (is_key && n == 0 && graft_json_cursor_sees(&cursor, ',')) {
            end = cursor.at + 1; /* the first of several members goes with the comma after it */
        }
        if (is_key) {
            splice(text, length, before, end, "", edited);
            return;
        }
        before = end;
    }
    graft_text_add(edited, text, length);
}
