/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_cost.h"

#include "base/json_cursor.h"

/* What jansson allocates for a value on 64-bit systems, including its slot in the container; measured and rounded
 * up. */
enum { OBJECT = 272, ARRAY = 192, MEMBER = 128, STRING = 96, NUMBER = 64 };

static int is_delimiter(char c) {
    return graft_json_is_space(c) || c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']' || c == '"';
}

/* Steps over a number or a word, or over a single delimiter. */
static size_t skip_plain(struct graft_json_cursor *cursor) {
    size_t start = cursor->at++;
    if (is_delimiter(cursor->text[start])) {
        return cursor->text[start] == '{' ? OBJECT : cursor->text[start] == '[' ? ARRAY : 0;
    }
    while (cursor->at < cursor->length && !is_delimiter(cursor->text[cursor->at])) {
        cursor->at++;
    }
    return NUMBER;
}

size_t graft_json_cost(const char *text, size_t length) {
    struct graft_json_cursor cursor = {text, length, 0};
    size_t cost = 0;
    while (cursor.at < length) {
        size_t start = cursor.at;
        if (text[start] != '"') {
            cost += skip_plain(&cursor);
        } else {
            (void)graft_json_cursor_skip(&cursor);
            cost += cursor.at - start + (graft_json_cursor_sees(&cursor, ':') ? MEMBER : STRING);
        }
    }
    return cost;
}
