/* SPDX-License-Identifier: Apache-2.0 */
#include "grammar/gbnf.h"

#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hex.h"
#include "base/utf8.h"

enum { MOST_DEPTH = 200, MOST_RULES = 1 << 16, MOST_REPEATS = 100000 };

/* The name of a rule. */
struct name {
    const char *text; /* where the grammar mentions it first */
    size_t length;
    int32_t rule;
    int is_defined;
};

struct reader {
    const char *begin, *at, *end;
    const char *source;
    struct graft_rules *rules;
    struct graft_error *error;
    int status;
    int depth;
    struct name *names; /* [n_names] */
    size_t n_names, capacity;
    uint32_t *slots; /* [2 * MOST_RULES] hash table: index in `names` + 1; 0: free */
};

static int goes_on(const struct reader *reader) {
    return reader->status == GRAFT_OK && reader->rules->failed == 0;
}

__attribute__((format(printf, 2, 3))) static void fail(struct reader *reader, const char *format, ...) {
    char text[200];
    int line = 1, column = 1;
    va_list arguments;
    if (!goes_on(reader)) {
        return;
    }
    for (const char *at = reader->begin; at < reader->at; at++) {
        column = *at == '\n' ? 1 : column + (((unsigned char)*at & 0xC0) != 0x80);
        line += *at == '\n';
    }
    va_start(arguments, format);
    graft_error_write(text, sizeof text, format, arguments);
    va_end(arguments);
    reader->status =
        graft_error_set(reader->error, GRAFT_ERROR_USAGE, reader->source, "line %d, column %d: %s", line, column, text);
}

static int next_is(const struct reader *reader, char c) {
    return reader->at < reader->end && *reader->at == c;
}

static int take(struct reader *reader, char c) {
    const int is = next_is(reader, c);
    reader->at += is;
    return is;
}

/* Skips spaces and comments and, with `over_lines`, ends of lines. */
static void skip(struct reader *reader, int over_lines) {
    for (; reader->at < reader->end; reader->at++) {
        if (*reader->at == '#') {
            while (reader->at < reader->end && *reader->at != '\n') {
                reader->at++;
            }
            reader->at -= reader->at < reader->end; /* the end of the line is looked at next */
            if (reader->at == reader->end) {
                return;
            }
        } else if (*reader->at != ' ' && *reader->at != '\t' &&
                   !(over_lines && (*reader->at == '\n' || *reader->at == '\r'))) {
            return;
        }
    }
}

/* --- Names --- */

static int is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Finds a name's index in `names`. A new name is added, with an empty rule. */
static size_t find_name(struct reader *reader, const char *text, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    uint32_t at = hash & (2 * MOST_RULES - 1);
    for (; reader->slots[at] != 0; at = (at + 1) & (2 * MOST_RULES - 1)) {
        const struct name *name = &reader->names[reader->slots[at] - 1];
        if (name->length == length && memcmp(name->text, text, length) == 0) {
            return reader->slots[at] - 1;
        }
    }
    if (reader->n_names == MOST_RULES) {
        fail(reader, "there are more than %d rules", (int)MOST_RULES);
        return 0;
    }
    if (graft_grow(&reader->names, &reader->capacity, reader->n_names, sizeof *reader->names) != 0) {
        reader->rules->failed = GRAFT_ERROR_INTERNAL;
        return 0;
    }
    reader->names[reader->n_names] = (struct name){text, length, graft_rules_add(reader->rules, text, length), 0};
    reader->slots[at] = (uint32_t)reader->n_names + 1;
    return reader->n_names++;
}

static size_t read_name(struct reader *reader) {
    const char *begin = reader->at;
    while (reader->at < reader->end && is_of_name(*reader->at)) {
        reader->at++;
    }
    if (reader->at == begin) {
        fail(reader, "expected the name of a rule");
        return 0;
    }
    return find_name(reader, begin, (size_t)(reader->at - begin));
}

/* --- Characters --- */

static uint32_t read_hex(struct reader *reader, int digits) {
    uint32_t code = 0;
    for (int i = 0; i < digits; i++) {
        const int digit = reader->at < reader->end ? graft_hex_digit(*reader->at) : -1;
        if (digit < 0) {
            fail(reader, "expected %d hexadecimal digits", digits);
            return 0;
        }
        code = code << 4 | (uint32_t)digit;
        reader->at++;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        fail(reader, "U+%04lX is not a character", (unsigned long)code);
    }
    return code;
}

static uint32_t read_escape(struct reader *reader) {
    static const char names[] = "nrt\"\\[]^-", values[] = "\n\r\t\"\\[]^-";
    const char c = reader->at < reader->end ? *reader->at : '\0';
    const char *found = c != '\0' ? strchr(names, c) : NULL;
    if (found != NULL) {
        reader->at++;
        return (unsigned char)values[found - names];
    }
    if (c == 'x' || c == 'u' || c == 'U') {
        reader->at++;
        return read_hex(reader, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    }
    fail(reader, "unknown escape");
    return 0;
}

/* One character, or an escape for one. */
static uint32_t read_character(struct reader *reader) {
    if (take(reader, '\\')) {
        return read_escape(reader);
    }
    if (graft_utf8_sequence(reader->at, (size_t)(reader->end - reader->at)) == 0) {
        fail(reader, "it is not UTF-8");
        return 0;
    }
    uint32_t code;
    reader->at += graft_utf8_read(reader->at, &code);
    return code;
}

static void read_text(struct reader *reader, int32_t from, int32_t to) {
    while (goes_on(reader) && !next_is(reader, '"')) {
        if (reader->at == reader->end || *reader->at == '\n') {
            fail(reader, "the text does not end");
            return;
        }
        const uint32_t code = read_character(reader);
        const int32_t next = graft_rules_state(reader->rules);
        graft_rules_characters(reader->rules, from, next, code, code);
        from = next;
    }
    (void)take(reader, '"');
    graft_rules_empty(reader->rules, from, to);
}

struct range {
    uint32_t first, last;
};

/* Adds edges for the characters that are in none of the ranges. Sorts the ranges. */
static void add_others(struct reader *reader, int32_t from, int32_t to, struct range *ranges, size_t n) {
    uint32_t next = 0;
    for (size_t i = 1; i < n; i++) {
        const struct range range = ranges[i];
        size_t j = i;
        for (; j > 0 && ranges[j - 1].first > range.first; j--) {
            ranges[j] = ranges[j - 1];
        }
        ranges[j] = range;
    }
    for (size_t i = 0; i < n; i++) {
        if (ranges[i].first > next) {
            graft_rules_characters(reader->rules, from, to, next, ranges[i].first - 1);
        }
        next = ranges[i].last + 1 > next ? ranges[i].last + 1 : next;
    }
    if (next <= 0x10FFFF) {
        graft_rules_characters(reader->rules, from, to, next, 0x10FFFF);
    }
}

static void read_class(struct reader *reader, int32_t from, int32_t to) {
    enum { MOST = 1000 };
    struct range ranges[MOST];
    size_t n = 0;
    const int is_not = take(reader, '^');
    while (goes_on(reader) && !next_is(reader, ']')) {
        if (reader->at == reader->end || *reader->at == '\n') {
            fail(reader, "the characters in [ ] do not end");
            return;
        }
        if (n == MOST) {
            fail(reader, "there are more than %d ranges in [ ]", (int)MOST);
            return;
        }
        struct range range = {.first = read_character(reader)};
        range.last = range.first;
        if (goes_on(reader) && reader->end - reader->at >= 2 && reader->at[0] == '-' && reader->at[1] != ']') {
            reader->at++;
            range.last = read_character(reader);
        }
        if (range.last < range.first) {
            fail(reader, "the range ends before it begins");
        }
        ranges[n++] = range;
    }
    (void)take(reader, ']');
    if (is_not) {
        add_others(reader, from, to, ranges, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        graft_rules_characters(reader->rules, from, to, ranges[i].first, ranges[i].last);
    }
}

/* --- Items --- */

static void read_alternatives(struct reader *reader, int32_t from, int32_t to, int in_group);

static void read_item(struct reader *reader, int32_t from, int32_t to) {
    if (take(reader, '"')) {
        read_text(reader, from, to);
    } else if (take(reader, '[')) {
        read_class(reader, from, to);
    } else if (take(reader, '.')) {
        graft_rules_characters(reader->rules, from, to, 0, 0x10FFFF);
    } else if (take(reader, '(')) {
        skip(reader, 1);
        read_alternatives(reader, from, to, 1);
        if (reader->status == GRAFT_OK && !take(reader, ')')) {
            fail(reader, "expected )");
        }
    } else {
        const size_t name = read_name(reader);
        if (goes_on(reader)) {
            graft_rules_call(reader->rules, from, to, reader->names[name].rule);
        }
    }
}

/* Reads a decimal number; -1 if there is none. */
static int64_t read_count(struct reader *reader) {
    int64_t count = -1;
    skip(reader, 0);
    for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        count = (count < 0 ? 0 : count) * 10 + (*reader->at - '0');
        if (count > MOST_REPEATS) {
            fail(reader, "more than %d repetitions", (int)MOST_REPEATS);
            return 0;
        }
    }
    skip(reader, 0);
    return count;
}

/* Reads the bounds of a repetition, after the opening brace. */
static void read_counts(struct reader *reader, int64_t *least, int64_t *most) {
    *least = read_count(reader);
    *most = take(reader, ',') ? read_count(reader) : *least;
    if (goes_on(reader) && ((*least < 0 && *most < 0) || !take(reader, '}'))) {
        fail(reader, "expected {n}, {n,}, {,m} or {n,m}");
    }
    *least = *least < 0 ? 0 : *least;
    if (*most >= 0 && *most < *least) {
        fail(reader, "more repetitions at least than at most");
    }
}

/* Reads an item and the quantifier after it. The item gets a start and an end of its own, so that it can repeat. */
static void read_repeated(struct reader *reader, int32_t from, int32_t to) {
    struct graft_rules *rules = reader->rules;
    const int32_t start = graft_rules_state(rules), end = graft_rules_state(rules);
    int64_t least = 1, most = 1;
    read_item(reader, start, end);
    skip(reader, 0);
    if (take(reader, '?')) {
        least = 0;
    } else if (take(reader, '*')) {
        least = 0;
        most = -1;
    } else if (take(reader, '+')) {
        most = -1;
    } else if (take(reader, '{')) {
        read_counts(reader, &least, &most);
    }
    if (!goes_on(reader)) {
        return;
    }
    if (least <= 1 && (most == 1 || most < 0)) {
        graft_rules_empty(rules, from, start);
        graft_rules_empty(rules, end, to);
        if (least == 0) {
            graft_rules_empty(rules, from, to);
        }
        if (most < 0) {
            graft_rules_empty(rules, end, start);
        }
    } else {
        graft_rules_repeat(rules, from, to, graft_rules_around(rules, start, end), least, most);
    }
}

static int ends_sequence(const struct reader *reader) {
    return reader->at == reader->end || *reader->at == '|' || *reader->at == ')' || *reader->at == '\n' ||
           *reader->at == '\r';
}

static void read_alternatives(struct reader *reader, int32_t from, int32_t to, int in_group) {
    if (++reader->depth > MOST_DEPTH) {
        fail(reader, "more than %d groups within groups", (int)MOST_DEPTH);
    }
    do {
        int32_t here = from;
        skip(reader, 1);
        while (goes_on(reader) && !ends_sequence(reader)) {
            const int32_t next = graft_rules_state(reader->rules);
            read_repeated(reader, here, next);
            here = next;
            skip(reader, in_group);
        }
        graft_rules_empty(reader->rules, here, to);
    } while (goes_on(reader) && take(reader, '|'));
    reader->depth--;
}

static void read_rule(struct reader *reader) {
    const size_t name = read_name(reader);
    if (!goes_on(reader)) {
        return;
    }
    if (reader->names[name].is_defined) {
        fail(reader, "there are two rules of this name");
        return;
    }
    reader->names[name].is_defined = 1;
    const int32_t rule = reader->names[name].rule;
    skip(reader, 0);
    if (reader->end - reader->at < 3 || memcmp(reader->at, "::=", 3) != 0) {
        fail(reader, "expected ::= after the name of a rule");
        return;
    }
    reader->at += 3;
    read_alternatives(reader, graft_rules_start(reader->rules, rule), graft_rules_end(reader->rules, rule), 0);
    if (goes_on(reader) && reader->at < reader->end && *reader->at != '\n' && *reader->at != '\r') {
        fail(reader, "unexpected )");
    }
}

static void check_names(struct reader *reader) {
    for (size_t i = 0; i < reader->n_names && goes_on(reader); i++) {
        const struct name *name = &reader->names[i];
        if (!name->is_defined && i == 0) {
            reader->status = graft_error_set(reader->error, GRAFT_ERROR_USAGE, reader->source,
                                             "there is no rule of the name root, with which a grammar begins");
        } else if (!name->is_defined) {
            reader->at = name->text;
            fail(reader, "there is no rule of the name %.*s", (int)(name->length < 60 ? name->length : 60), name->text);
        }
    }
}

int graft_gbnf_read(const char *text, size_t length, const char *source, struct graft_rules *rules,
                    struct graft_error *error) {
    struct reader reader = {text, text, text + length, source, rules, error, .status = GRAFT_OK};
    reader.slots = graft_alloc((size_t)2 * MOST_RULES, sizeof *reader.slots);
    if (reader.slots == NULL) {
        return graft_fail_memory(error, source);
    }
    (void)find_name(&reader, "root", 4); /* rule number 0 */
    skip(&reader, 1);
    while (goes_on(&reader) && reader.at < reader.end) {
        read_rule(&reader);
        skip(&reader, 1);
    }
    check_names(&reader);
    graft_free(reader.slots);
    graft_free(reader.names);
    return reader.status;
}
