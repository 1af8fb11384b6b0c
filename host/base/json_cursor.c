/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_cursor.h"

#include <string.h>

#include "base/hex.h"

/* The value of the four digits of "\uHHHH"; -1 if they are missing. */
static int32_t read_unit(struct graft_json_cursor *cursor) {
    int32_t unit = 0;
    if (cursor->length - cursor->at < 6 || memcmp(cursor->text + cursor->at, "\\u", 2) != 0) {
        return -1;
    }
    for (size_t i = 2; i < 6; i++) {
        int digit = graft_hex_digit(cursor->text[cursor->at + i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    cursor->at += 6;
    return unit;
}

/* Reads "\uHHHH", or two of them for a character outside of the basic plane. */
static int read_code_point(struct graft_json_cursor *cursor, struct graft_text *out) {
    int32_t code = read_unit(cursor);
    if (code >= 0xD800 && code < 0xDC00) {
        int32_t low = read_unit(cursor);
        code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00) : -1;
    }
    if (code < 0 || (code >= 0xD800 && code < 0xE000)) {
        return -1;
    }
    graft_utf8_add(out, (uint32_t)code);
    return 0;
}

static int read_escape(struct graft_json_cursor *cursor, struct graft_text *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char letter = cursor->at + 1 < cursor->length ? cursor->text[cursor->at + 1] : '\0';
    if (letter == 'u') {
        return read_code_point(cursor, out);
    }
    const char *known = letter != '\0' ? strchr(from, letter) : NULL;
    if (known == NULL) {
        return -1;
    }
    graft_text_add(out, to + (known - from), 1);
    cursor->at += 2;
    return 0;
}

/* Skips characters that need no decoding. */
static void skip_plain(struct graft_json_cursor *cursor) {
    while (cursor->at < cursor->length && (unsigned char)cursor->text[cursor->at] >= 0x20 &&
           cursor->text[cursor->at] != '"' && cursor->text[cursor->at] != '\\') {
        cursor->at++;
    }
}

int graft_json_cursor_string(struct graft_json_cursor *cursor, struct graft_text *out) {
    if (!graft_json_cursor_take(cursor, '"')) {
        return -1;
    }
    for (;;) {
        size_t start = cursor->at;
        skip_plain(cursor);
        graft_text_add(out, cursor->text + start, cursor->at - start);
        if (cursor->at == cursor->length) {
            return -1;
        }
        if (cursor->text[cursor->at] == '"') {
            cursor->at++;
            return 0;
        }
        if (cursor->text[cursor->at] != '\\' || read_escape(cursor, out) != 0) {
            return -1;
        }
    }
}

int graft_json_cursor_plain(struct graft_json_cursor *cursor, const char **string, size_t *length) {
    if (!graft_json_cursor_take(cursor, '"')) {
        return -1;
    }
    size_t start = cursor->at;
    skip_plain(cursor);
    *string = cursor->text + start;
    *length = cursor->at - start;
    if (cursor->at == cursor->length || cursor->text[cursor->at] != '"') {
        cursor->at = start - 1;
        return -1;
    }
    cursor->at++;
    return 0;
}

int graft_json_cursor_is(struct graft_json_cursor *cursor, const char *wanted) {
    const char *plain;
    size_t length;
    if (graft_json_cursor_plain(cursor, &plain, &length) == 0) {
        return length == strlen(wanted) && memcmp(plain, wanted, length) == 0;
    }
    struct graft_text text = {0};
    int found = graft_json_cursor_string(cursor, &text);
    int same = text.length == strlen(wanted) && (text.length == 0 || memcmp(text.bytes, wanted, text.length) == 0);
    graft_text_free(&text);
    return found == 0 ? same : -1;
}

int graft_json_cursor_integer(struct graft_json_cursor *cursor, int64_t *number) {
    int negative = graft_json_cursor_take(cursor, '-');
    size_t start = cursor->at;
    int64_t sum = 0;
    for (; cursor->at < cursor->length && cursor->text[cursor->at] >= '0' && cursor->text[cursor->at] <= '9';
         cursor->at++) {
        int digit = cursor->text[cursor->at] - '0';
        sum = sum <= (INT64_MAX - 9) / 10 || sum <= (INT64_MAX - digit) / 10 ? sum * 10 + digit : INT64_MAX;
    }
    char next = cursor->at < cursor->length ? cursor->text[cursor->at] : '\0';
    int leading_zero = cursor->at - start > 1 && cursor->text[start] == '0';
    *number = negative ? -sum : sum;
    return cursor->at == start || leading_zero || next == '.' || next == 'e' || next == 'E' ? -1 : 0;
}

static int skip_string(struct graft_json_cursor *cursor) {
    for (cursor->at++; cursor->at < cursor->length; cursor->at++) {
        if (cursor->text[cursor->at] == '"') {
            cursor->at++;
            return 0;
        }
        cursor->at += cursor->text[cursor->at] == '\\';
    }
    cursor->at = cursor->length;
    return -1;
}

int graft_json_cursor_skip(struct graft_json_cursor *cursor) {
    size_t depth = 0;
    if (graft_json_cursor_sees(cursor, '"')) {
        return skip_string(cursor);
    }
    while (cursor->at < cursor->length) {
        char c = cursor->text[cursor->at];
        if (c == '"') {
            if (skip_string(cursor) != 0) {
                return -1;
            }
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']' || graft_json_is_space(c))) {
            return 0; /* at the end of a number or a word */
        }
        depth += c == '{' || c == '[';
        cursor->at++;
        if ((c == '}' || c == ']') && --depth == 0) {
            return 0;
        }
    }
    return -1;
}
