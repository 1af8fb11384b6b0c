/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_scan.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
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

/* A copy in progress: most of the text is copied, and some of it replaced. */
struct widening {
    struct graft_json_cursor cursor;
    struct graft_text copy;
    size_t copied; /* bytes of the text that have been copied or replaced */
    int repairs;   /* whether strings are repaired as well */
};

/* Replaces the text from `from` to the cursor. */
static void put(struct widening *widening, size_t from, const char *replacement) {
    graft_text_add(&widening->copy, widening->cursor.text + widening->copied, from - widening->copied);
    graft_text_add_string(&widening->copy, replacement);
    widening->copied = widening->cursor.at;
}

/* --- Numbers --- */

/* Whether digits, of which nothing else is checked, are an integer outside of int64. */
static int exceeds_int64(const char *digits, size_t count, int negative) {
    const char *largest = negative ? "9223372036854775808" : "9223372036854775807";
    size_t largest_count = strlen(largest);
    return count > largest_count || (count == largest_count && memcmp(digits, largest, count) > 0);
}

/* Whether a number with a point or an exponent is too large for a double. A number that does not fit the buffer is left
 * to the parser. */
static int exceeds_double(const char *number, size_t length) {
    char text[400];
    if (length >= sizeof text) {
        return 0;
    }
    memcpy(text, number, length);
    text[length] = '\0';
    char *point = strchr(text, '.');
    if (point != NULL) {
        *point = *localeconv()->decimal_point;
    }
    return isinf(strtod(text, NULL));
}

/* Reads the next number, of which nothing but a minus sign may be there. */
static void widen_number(struct widening *widening) {
    struct graft_json_cursor *cursor = &widening->cursor;
    const char *text = cursor->text;
    const size_t start = cursor->at;
    int negative = text[start] == '-';
    size_t digits = start + (size_t)negative, end = digits;
    while (end < cursor->length && is_digit(text[end])) {
        end++;
    }
    int real = end < cursor->length && (text[end] == '.' || text[end] == 'e' || text[end] == 'E');
    int exceeds = !real && exceeds_int64(text + digits, end - digits, negative);
    while (real && end < cursor->length && (is_digit(text[end]) || strchr(".eE+-", text[end]) != NULL)) {
        end++;
    }
    cursor->at = end;
    if (exceeds) {
        put(widening, end, ".0");
    } else if (real && exceeds_double(text + start, end - start)) {
        put(widening, start, negative ? "{\"__float__\": \"-Infinity\"}" : "{\"__float__\": \"Infinity\"}");
    }
}

/* Reads a number that Python allows and JSON does not, such as NaN. Returns whether there was one. */
static int widen_word(struct widening *widening) {
    static const char *const words[][2] = {{"Infinity", "{\"__float__\": \"Infinity\"}"},
                                           {"-Infinity", "{\"__float__\": \"-Infinity\"}"},
                                           {"NaN", "{\"__float__\": \"NaN\"}"}};
    struct graft_json_cursor *cursor = &widening->cursor;
    const size_t start = cursor->at;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i][0]);
        if (cursor->length - start >= length && memcmp(cursor->text + start, words[i][0], length) == 0) {
            cursor->at += length;
            put(widening, start, words[i][1]);
            return 1;
        }
    }
    return 0;
}

/* --- Strings --- */

/* The value of the four hexadecimal digits of "\uHHHH"; -1 if they are missing. */
static long unit_at(const struct graft_json_cursor *cursor, size_t at) {
    char digits[5] = "";
    if (cursor->length - at < 6 || cursor->text[at] != '\\' || cursor->text[at + 1] != 'u') {
        return -1;
    }
    memcpy(digits, cursor->text + at + 2, 4);
    return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

static int is_low(long unit) {
    return unit >= 0xDC00 && unit < 0xE000;
}

/* Skips an escape. Half a surrogate pair, which UTF-8 cannot encode, becomes U+FFFD. */
static void widen_escape(struct widening *widening) {
    struct graft_json_cursor *cursor = &widening->cursor;
    const size_t start = cursor->at;
    long unit = unit_at(cursor, start);
    int is_high = unit >= 0xD800 && unit < 0xDC00;
    int is_pair = is_high && is_low(unit_at(cursor, start + 6));
    size_t length = is_pair ? 12 : unit >= 0 ? 6 : 2;
    cursor->at = length < cursor->length - start ? start + length : cursor->length;
    if (widening->repairs && ((is_high && !is_pair) || is_low(unit))) {
        put(widening, start, "\\ufffd");
    }
}

static void widen_string(struct widening *widening) {
    struct graft_json_cursor *cursor = &widening->cursor;
    cursor->at++;
    while (cursor->at < cursor->length && cursor->text[cursor->at] != '"') {
        if (cursor->text[cursor->at] == '\\') {
            widen_escape(widening);
        } else {
            cursor->at++;
        }
    }
    cursor->at += cursor->at < cursor->length;
}

char *graft_json_scan_widen(const char *text, size_t length, int repairs, size_t *new_length) {
    struct widening widening = {.cursor = {text, length, 0}, .repairs = repairs};
    while (widening.cursor.at < length) {
        char c = text[widening.cursor.at];
        if (c == '"') {
            widen_string(&widening);
        } else if (widen_word(&widening)) {
            continue;
        } else if (c == '-' || is_digit(c)) {
            widen_number(&widening);
        } else {
            widening.cursor.at++;
        }
    }
    put(&widening, length, "");
    if (widening.copy.failed) {
        graft_text_free(&widening.copy);
    }
    *new_length = widening.copy.length;
    return widening.copy.bytes;
}
