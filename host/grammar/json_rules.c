/* SPDX-License-Identifier: Apache-2.0 */
#include "grammar/json_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

char *graft_json_tight(const graft_json *value) {
    char *text = graft_json_dump(value, 0);
    char *to = text;
    int in_string = 0;
    for (const char *at = text; text != NULL && *at != '\0'; at++) {
        if (in_string && at[0] == '\\') {
            *to++ = *at++;
        } else if (at[0] == '"') {
            in_string = !in_string;
        } else if (!in_string && at[0] == ' ') {
            continue;
        } else if (!in_string && at[0] == '.' && at[1] == '0' && (at[2] == '\0' || strchr(",]} ", at[2]) != NULL)) {
            at++;
            continue;
        }
        *to++ = *at;
    }
    if (text != NULL) {
        *to = '\0';
    }
    return text;
}

static void range(struct graft_rules *rules, int32_t from, int32_t to, const char *ends) {
    graft_rules_range(rules, from, to, (unsigned char)ends[0], (unsigned char)ends[1]);
}

static void any_hex(struct graft_rules *rules, int32_t from, int32_t to) {
    range(rules, from, to, "09");
    range(rules, from, to, "af");
    range(rules, from, to, "AF");
}

static int32_t hex_digits(struct graft_rules *rules, int32_t from, int n) {
    for (int i = 0; i < n; i++) {
        const int32_t next = graft_rules_state(rules);
        any_hex(rules, from, next);
        from = next;
    }
    return from;
}

/* Adds rules for what follows \u: four digits that are not a surrogate, or a high and a low surrogate. */
static void add_units(struct graft_rules *rules, int32_t from, int32_t to) {
    const int32_t d = graft_rules_state(rules), plain = graft_rules_state(rules), high = graft_rules_state(rules);
    const int32_t second = graft_rules_state(rules), low = graft_rules_state(rules), end = graft_rules_state(rules);
    range(rules, from, plain, "09");
    range(rules, from, plain, "ac");
    range(rules, from, plain, "AC");
    range(rules, from, plain, "ef");
    range(rules, from, plain, "EF");
    any_hex(rules, plain, end);
    range(rules, from, d, "dd");
    range(rules, from, d, "DD");
    range(rules, d, end, "07");
    any_hex(rules, hex_digits(rules, end, 1), to);
    range(rules, d, high, "89");
    range(rules, d, high, "ab");
    range(rules, d, high, "AB");
    graft_rules_text(rules, hex_digits(rules, high, 2), second, "\\u", 2);
    range(rules, second, low, "dd");
    range(rules, second, low, "DD");
    const int32_t last = graft_rules_state(rules);
    range(rules, low, last, "cf");
    range(rules, low, last, "CF");
    any_hex(rules, hex_digits(rules, last, 1), to);
}

void graft_json_character_rules(struct graft_rules *rules, int32_t from, int32_t to) {
    static const char escapes[] = "\"\\/bfnrt";
    const int32_t escape = graft_rules_state(rules), units = graft_rules_state(rules);
    graft_rules_characters(rules, from, to, 0x20, 0x21);
    graft_rules_characters(rules, from, to, 0x23, 0x5B);
    graft_rules_characters(rules, from, to, 0x5D, 0x10FFFF);
    range(rules, from, escape, "\\\\");
    for (const char *at = escapes; *at != '\0'; at++) {
        graft_rules_text(rules, escape, to, at, 1);
    }
    range(rules, escape, units, "uu");
    add_units(rules, units, to);
}

void graft_json_string_rules(struct graft_rules *rules, int32_t from, int32_t to) {
    const int32_t inside = graft_rules_state(rules);
    graft_rules_text(rules, from, inside, "\"", 1);
    graft_json_character_rules(rules, inside, inside);
    graft_rules_text(rules, inside, to, "\"", 1);
}

/* One digit or more. Returns the state after them. */
static int32_t digits(struct graft_rules *rules, int32_t from) {
    const int32_t after = graft_rules_state(rules);
    range(rules, from, after, "09");
    range(rules, after, after, "09");
    return after;
}

/* An integer. Returns the state after it. */
static int32_t integer(struct graft_rules *rules, int32_t from) {
    const int32_t unsigned_part = graft_rules_state(rules), more = graft_rules_state(rules);
    const int32_t after = graft_rules_state(rules);
    graft_rules_text(rules, from, unsigned_part, "-", 1);
    graft_rules_empty(rules, from, unsigned_part);
    graft_rules_text(rules, unsigned_part, after, "0", 1);
    range(rules, unsigned_part, more, "19");
    range(rules, more, more, "09");
    graft_rules_empty(rules, more, after);
    return after;
}

void graft_json_integer_rules(struct graft_rules *rules, int32_t from, int32_t to) {
    graft_rules_empty(rules, integer(rules, from), to);
}

void graft_json_number_rules(struct graft_rules *rules, int32_t from, int32_t to) {
    const int32_t whole = integer(rules, from), point = graft_rules_state(rules);
    const int32_t mark = graft_rules_state(rules), exponent = graft_rules_state(rules);
    graft_rules_text(rules, whole, point, ".", 1);
    const int32_t fraction = digits(rules, point);
    const int32_t ends[] = {whole, fraction};
    for (int i = 0; i < 2; i++) {
        graft_rules_text(rules, ends[i], mark, "e", 1);
        graft_rules_text(rules, ends[i], mark, "E", 1);
        graft_rules_empty(rules, ends[i], to);
    }
    graft_rules_text(rules, mark, exponent, "+", 1);
    graft_rules_text(rules, mark, exponent, "-", 1);
    graft_rules_empty(rules, mark, exponent);
    graft_rules_empty(rules, digits(rules, exponent), to);
}

static int compare(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* How many bytes two texts have in common at their start. */
static size_t alike(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] != '\0' && a[n] == b[n]) {
        n++;
    }
    return n;
}

void graft_json_text_rules(struct graft_rules *rules, int32_t from, int32_t to, char **texts, size_t n) {
    size_t longest = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t length = strlen(texts[i]);
        longest = length > longest ? length : longest;
    }
    int32_t *path = graft_alloc(longest + 1, sizeof *path); /* the states after the bytes of the last text */
    if (path == NULL) {
        rules->failed = rules->failed != 0 ? rules->failed : GRAFT_ERROR_INTERNAL;
        return;
    }
    qsort(texts, n, sizeof *texts, compare);
    path[0] = from;
    for (size_t i = 0; i < n && rules->failed == 0; i++) {
        const char *text = texts[i];
        size_t at = i > 0 ? alike(texts[i - 1], text) : 0;
        for (; text[at] != '\0'; at++) {
            path[at + 1] = graft_rules_state(rules);
            graft_rules_range(rules, path[at], path[at + 1], (unsigned char)text[at], (unsigned char)text[at]);
        }
        graft_rules_empty(rules, path[at], to);
    }
    graft_free(path);
}
