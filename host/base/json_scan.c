/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_scan.h"

#include <string.h>

#include "base/json_cursor.h"

int graft_json_scan_deeper(const char *text, size_t length, size_t limit) {
    struct graft_json_cursor cursor = {text, length, 0};
    size_t depth = 0;
    while (cursor.at < length) {
        char c = text[cursor.at];
        if (c == '"') {
            (void)graft_json_cursor_skip(&cursor);
            continue;
        }
        if (c == '[' || c == '{') {
            if (++depth > limit) {
                return 1;
            }
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
        cursor.at++;
    }
    return 0;
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Whether the digits are those of an integer outside int64, given that nothing but digits is in them. */
static int exceeds_int64(const char *digits, size_t count, int negative) {
    const char *largest = negative ? "9223372036854775808" : "9223372036854775807";
    size_t largest_count = strlen(largest);
    return count > largest_count || (count == largest_count && memcmp(digits, largest, count) > 0);
}

/* The place behind the number that starts at `at`; `*widen` says whether it is an integer too large. */
static size_t skip_number(const char *text, size_t length, size_t at, int *widen) {
    int negative = text[at] == '-';
    size_t digits = at + (size_t)negative;
    size_t end = digits;
    while (end < length && is_digit(text[end])) {
        end++;
    }
    int real = end < length && (text[end] == '.' || text[end] == 'e' || text[end] == 'E');
    *widen = !real && exceeds_int64(text + digits, end - digits, negative);
    while (real && end < length && (is_digit(text[end]) || strchr(".eE+-", text[end]) != NULL)) {
        end++;
    }
    return end;
}

static const char infinity[] = "Infinity";

static int is_infinity(const struct graft_json_cursor *cursor) {
    return cursor->length - cursor->at >= strlen(infinity) &&
           memcmp(cursor->text + cursor->at, infinity, strlen(infinity)) == 0;
}

char *graft_json_scan_widen(const char *text, size_t length, size_t *new_length) {
    struct graft_json_cursor cursor = {text, length, 0};
    struct graft_text copy = {0};
    size_t copied = 0;
    while (cursor.at < length) {
        char c = text[cursor.at];
        if (c == '"') {
            (void)graft_json_cursor_skip(&cursor);
        } else if (c == '-' || is_digit(c)) {
            int widen;
            cursor.at = skip_number(text, length, cursor.at, &widen);
            if (widen) {
                graft_text_add(&copy, text + copied, cursor.at - copied);
                graft_text_add_string(&copy, ".0");
                copied = cursor.at;
            }
        } else if (is_infinity(&cursor)) {
            graft_text_add(&copy, text + copied, cursor.at - copied);
            graft_text_add_string(&copy, "{\"__float__\": \"Infinity\"}");
            cursor.at += strlen(infinity);
            copied = cursor.at;
        } else {
            cursor.at++;
        }
    }
    graft_text_add(&copy, text + copied, length - copied);
    if (copy.failed) {
        graft_text_free(&copy);
    }
    *new_length = copy.length;
    return copy.bytes;
}
