/* SPDX-License-Identifier: Apache-2.0 */
#include "grammar/expression.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "grammar/dfa.h"

enum { MOST_STATES = 20000, MOST_DEPTH = 100, MOST_REPEATS = 1000 };

static void refuse(struct graft_expression *expression, const char *fault) {
    if (expression->status == GRAFT_OK) {
        expression->status = GRAFT_ERROR_USAGE;
        expression->fault = fault;
    }
}

static int32_t add_state(struct graft_expression *expression) {
    if (expression->n_states == MOST_STATES) {
        refuse(expression, "it is too large");
        return 0;
    }
    return expression->n_states++;
}

static void join(struct graft_expression *expression, int32_t from, int32_t to, int kind, uint32_t first,
                 uint32_t last) {
    if (expression->n_joins >= (size_t)20 * MOST_STATES) {
        refuse(expression, "it is too large");
    }
    if (expression->status != GRAFT_OK) {
        return;
    }
    if (graft_grow(&expression->joins, &expression->capacity, expression->n_joins, sizeof *expression->joins) != 0) {
        expression->status = GRAFT_ERROR_INTERNAL;
        return;
    }
    expression->joins[expression->n_joins++] = (struct graft_join){from, to, kind, first, last};
}

static int next_is(const struct graft_expression *expression, char c) {
    return expression->at < expression->end && *expression->at == c;
}

static int take(struct graft_expression *expression, char c) {
    const int is = next_is(expression, c);
    expression->at += is;
    return is;
}

static int goes_on(const struct graft_expression *expression) {
    return expression->status == GRAFT_OK && expression->at < expression->end;
}

/* --- Sets of characters --- */

enum { MOST_RANGES = 300 };

struct ranges {
    uint32_t list[MOST_RANGES][2];
    size_t n;
};

static void add_range(struct graft_expression *expression, struct ranges *ranges, uint32_t first, uint32_t last) {
    if (ranges->n == MOST_RANGES) {
        refuse(expression, "it has too many ranges in [ ]");
        return;
    }
    ranges->list[ranges->n][0] = first;
    ranges->list[ranges->n++][1] = last;
}

static int compare_ranges(const void *left, const void *right) {
    const uint32_t *a = left, *b = right;
    return (a[0] > b[0]) - (a[0] < b[0]);
}

/* Replaces the ranges by their complement. */
static void turn(struct graft_expression *expression, struct ranges *ranges) {
    struct ranges others = {.n = 0};
    uint32_t next = 0;
    qsort(ranges->list, ranges->n, sizeof *ranges->list, compare_ranges);
    for (size_t i = 0; i < ranges->n; i++) {
        if (ranges->list[i][0] > next) {
            add_range(expression, &others, next, ranges->list[i][0] - 1);
        }
        next = ranges->list[i][1] + 1 > next ? ranges->list[i][1] + 1 : next;
    }
    if (next <= GRAFT_LAST_CHARACTER) {
        add_range(expression, &others, next, GRAFT_LAST_CHARACTER);
    }
    *ranges = others;
}

/* Adds the characters of \d, \w or \s, or of their complements \D, \W and \S. Returns 0 for another name. */
static int add_named(struct graft_expression *expression, struct ranges *ranges, char name) {
    static const uint32_t space[][2] = {{9, 13},          {32, 32},         {0xA0, 0xA0},     {0x1680, 0x1680},
                                        {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
                                        {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
    struct ranges found = {.n = 0};
    const char lower = (char)(name | 0x20);
    if (lower == 'd') {
        add_range(expression, &found, '0', '9');
    } else if (lower == 'w') {
        add_range(expression, &found, '0', '9');
        add_range(expression, &found, 'A', 'Z');
        add_range(expression, &found, '_', '_');
        add_range(expression, &found, 'a', 'z');
    } else if (lower == 's') {
        for (size_t i = 0; i < sizeof space / sizeof *space; i++) {
            add_range(expression, &found, space[i][0], space[i][1]);
        }
    } else {
        return 0;
    }
    if (name != lower) {
        turn(expression, &found);
    }
    for (size_t i = 0; i < found.n; i++) {
        add_range(expression, ranges, found.list[i][0], found.list[i][1]);
    }
    return 1;
}

static uint32_t read_hex(struct graft_expression *expression, int digits) {
    uint32_t code = 0;
    for (int i = 0; i < digits; i++) {
        const int digit = expression->at < expression->end ? graft_hex_digit(*expression->at) : -1;
        if (digit < 0) {
            refuse(expression, "expected hexadecimal digits");
            return 0;
        }
        code = code << 4 | (uint32_t)digit;
        expression->at++;
    }
    return code;
}

static uint32_t read_unicode(struct graft_expression *expression) {
    uint32_t code = 0;
    if (!take(expression, '{')) {
        code = read_hex(expression, 4);
        if (code >= 0xD800 && code <= 0xDBFF && expression->end - expression->at >= 6 && expression->at[0] == '\\' &&
            expression->at[1] == 'u') {
            expression->at += 2;
            code = 0x10000 + ((code - 0xD800) << 10) + ((read_hex(expression, 4) - 0xDC00) & 0x3FF);
        }
        return code;
    }
    while (goes_on(expression) && !next_is(expression, '}') && code <= GRAFT_LAST_CHARACTER) {
        code = code << 4 | read_hex(expression, 1);
    }
    if (code > GRAFT_LAST_CHARACTER || !take(expression, '}')) {
        refuse(expression, "it has an escape for no character");
    }
    return code;
}

/* Reads what follows a backslash, where that stands for one character. */
static uint32_t read_escape(struct graft_expression *expression) {
    static const char names[] = "nrtfv0", values[] = "\n\r\t\f\v";
    static const char itself[] = "^$\\.*+?()[]{}|/-";
    const char c = expression->at < expression->end ? *expression->at++ : '\0';
    const char *found = c != '\0' ? strchr(names, c) : NULL;
    if (found != NULL) {
        return (unsigned char)values[found - names];
    }
    if (c != '\0' && (strchr(itself, c) != NULL)) {
        return (unsigned char)c;
    }
    if (c == 'x') {
        return read_hex(expression, 2);
    }
    if (c == 'u') {
        return read_unicode(expression);
    }
    if (c == 'c' && goes_on(expression) && ((*expression->at | 0x20) >= 'a' && (*expression->at | 0x20) <= 'z')) {
        return (uint32_t)*expression->at++ & 31;
    }
    refuse(expression, c == 'b' || c == 'B'                 ? "\\b is not supported"
                       : c == 'p' || c == 'P'               ? "\\p is not supported"
                       : c == 'k' || (c >= '1' && c <= '9') ? "references to groups are not supported"
                                                            : "it has an escape that is not one");
    return 0;
}

static uint32_t read_character(struct graft_expression *expression) {
    uint32_t code;
    expression->at += graft_utf8_read(expression->at, &code);
    return code;
}

/* Reads one member of [ ] and returns its character. A class such as \d is added to the ranges here, and *is_one
 * becomes 0. */
static uint32_t read_member(struct graft_expression *expression, struct ranges *ranges, int *is_one) {
    *is_one = 1;
    if (!take(expression, '\\')) {
        return read_character(expression);
    }
    if (expression->at < expression->end && add_named(expression, ranges, *expression->at)) {
        expression->at++;
        *is_one = 0;
        return 0;
    }
    if (take(expression, 'b')) {
        return '\b';
    }
    return read_escape(expression);
}

static void read_class(struct graft_expression *expression, struct ranges *ranges) {
    const int is_not = take(expression, '^');
    while (goes_on(expression) && !next_is(expression, ']')) {
        int is_one, last_is_one = 1;
        const uint32_t first = read_member(expression, ranges, &is_one);
        uint32_t last = first;
        if (is_one && expression->end - expression->at >= 2 && expression->at[0] == '-' && expression->at[1] != ']') {
            expression->at++;
            last = read_member(expression, ranges, &last_is_one);
        }
        if (!last_is_one || last < first) {
            refuse(expression, "it has a range that ends before it begins");
        } else if (is_one) {
            add_range(expression, ranges, first, last);
        }
    }
    if (!take(expression, ']')) {
        refuse(expression, "[ ] does not end");
    }
    if (is_not) {
        turn(expression, ranges);
    }
}

/* --- Terms --- */

static void read_alternatives(struct graft_expression *expression, int32_t from, int32_t to);

static void join_ranges(struct graft_expression *expression, int32_t from, int32_t to, const struct ranges *ranges) {
    for (size_t i = 0; i < ranges->n; i++) {
        join(expression, from, to, GRAFT_JOINED_BY_CHARACTERS, ranges->list[i][0], ranges->list[i][1]);
    }
}

static void read_group(struct graft_expression *expression, int32_t from, int32_t to) {
    if (take(expression, '?') && !take(expression, ':')) {
        const int is_named = take(expression, '<') && !next_is(expression, '=') && !next_is(expression, '!');
        if (!is_named) {
            refuse(expression, "(?= and the like are not supported");
        }
        while (goes_on(expression) && !take(expression, '>')) {
            expression->at++;
        }
    }
    read_alternatives(expression, from, to);
    if (!take(expression, ')')) {
        refuse(expression, "a group does not end");
    }
}

static void read_atom(struct graft_expression *expression, int32_t from, int32_t to) {
    struct ranges ranges = {.n = 0};
    if (take(expression, '(')) {
        read_group(expression, from, to);
        return;
    }
    if (take(expression, '^')) {
        join(expression, from, to, GRAFT_JOINED_AT_BEGIN, 0, 0);
        return;
    }
    if (take(expression, '$')) {
        join(expression, from, to, GRAFT_JOINED_AT_END, 0, 0);
        return;
    }
    if (take(expression, '[')) {
        read_class(expression, &ranges);
    } else if (take(expression, '.')) {
        add_range(expression, &ranges, '\n', '\n');
        add_range(expression, &ranges, '\r', '\r');
        add_range(expression, &ranges, 0x2028, 0x2029);
        turn(expression, &ranges);
    } else if (take(expression, '\\')) {
        if (expression->at < expression->end && add_named(expression, &ranges, *expression->at)) {
            expression->at++;
        } else {
            const uint32_t code = read_escape(expression);
            add_range(expression, &ranges, code, code);
        }
    } else if (strchr("*+?{", *expression->at) != NULL) {
        refuse(expression, "there is nothing to repeat");
    } else {
        const uint32_t code = read_character(expression);
        add_range(expression, &ranges, code, code);
    }
    join_ranges(expression, from, to, &ranges);
}

static int64_t read_count(struct graft_expression *expression) {
    int64_t count = -1;
    for (; goes_on(expression) && *expression->at >= '0' && *expression->at <= '9'; expression->at++) {
        count = (count < 0 ? 0 : count) * 10 + (*expression->at - '0');
        if (count > MOST_REPEATS) {
            refuse(expression, "it repeats more than 1,000 times");
        }
    }
    return count;
}

/* Reads a quantifier (?, *, + or { }). Returns 0 if there is none; *most is -1 without an upper limit. */
static int read_repeats(struct graft_expression *expression, int64_t *least, int64_t *most) {
    *least = 0;
    *most = -1;
    if (take(expression, '?')) {
        *most = 1;
    } else if (take(expression, '+')) {
        *least = 1;
    } else if (take(expression, '{')) {
        *least = read_count(expression);
        *most = take(expression, ',') ? read_count(expression) : *least;
        if (*least < 0 || !take(expression, '}') || (*most >= 0 && *most < *least)) {
            refuse(expression, "{ } does not say how often");
        }
    } else if (!take(expression, '*')) {
        return 0;
    }
    (void)take(expression, '?'); /* a lazy quantifier: it changes which match is found, not whether there is one */
    return 1;
}

/* Parses the atom that begins at `text` once more, to add another copy of its states. */
static int32_t read_again(struct graft_expression *expression, const char *text, int32_t from) {
    const char *at = expression->at;
    const int32_t to = add_state(expression);
    expression->at = text;
    read_atom(expression, from, to);
    expression->at = at;
    return to;
}

static int32_t read_term(struct graft_expression *expression, int32_t from) {
    const char *text = expression->at;
    int64_t least, most;
    const int32_t start = add_state(expression), end = add_state(expression);
    read_atom(expression, start, end);
    if (!read_repeats(expression, &least, &most)) {
        join(expression, from, start, GRAFT_JOINED_BY_NOTHING, 0, 0);
        return end;
    }
    int32_t here = from;
    for (int64_t i = 0; i < (most < 0 ? least : most) && expression->status == GRAFT_OK; i++) {
        const int32_t next = read_again(expression, text, here);
        if (i >= least) {
            join(expression, here, end, GRAFT_JOINED_BY_NOTHING, 0, 0);
        }
        here = next;
    }
    /* The first copy is the loop of an unbounded quantifier. For a bounded one nothing leads into it, and only its end
     * is used. */
    const int32_t last = add_state(expression);
    join(expression, here, last, GRAFT_JOINED_BY_NOTHING, 0, 0);
    if (most < 0) {
        join(expression, here, start, GRAFT_JOINED_BY_NOTHING, 0, 0);
        join(expression, end, start, GRAFT_JOINED_BY_NOTHING, 0, 0);
        join(expression, end, last, GRAFT_JOINED_BY_NOTHING, 0, 0);
    } else {
        join(expression, end, last, GRAFT_JOINED_BY_NOTHING, 0, 0);
    }
    return last;
}

static void read_alternatives(struct graft_expression *expression, int32_t from, int32_t to) {
    if (++expression->depth > MOST_DEPTH) {
        refuse(expression, "it has too many groups within groups");
    }
    do {
        int32_t here = add_state(expression);
        join(expression, from, here, GRAFT_JOINED_BY_NOTHING, 0, 0);
        while (goes_on(expression) && !next_is(expression, '|') && !next_is(expression, ')')) {
            here = read_term(expression, here);
        }
        join(expression, here, to, GRAFT_JOINED_BY_NOTHING, 0, 0);
    } while (expression->status == GRAFT_OK && take(expression, '|'));
    expression->depth--;
}

static int compare_joins(const void *left, const void *right) {
    const struct graft_join *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Sorts the joins by their states. */
static int sort_joins(struct graft_expression *expression) {
    expression->first_join = graft_alloc((size_t)expression->n_states + 1, sizeof *expression->first_join);
    if (expression->first_join == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    qsort(expression->joins, expression->n_joins, sizeof *expression->joins, compare_joins);
    for (size_t i = 0; i < expression->n_joins; i++) {
        expression->first_join[expression->joins[i].from + 1]++;
    }
    for (int32_t i = 0; i < expression->n_states; i++) {
        expression->first_join[i + 1] += expression->first_join[i];
    }
    return GRAFT_OK;
}

int graft_expression_read(struct graft_expression *expression, const char *text, size_t length) {
    expression->at = text;
    expression->end = text + length;
    const int32_t before = add_state(expression), after = add_state(expression);
    const int32_t start = add_state(expression), end = add_state(expression);
    join(expression, before, before, GRAFT_JOINED_BY_CHARACTERS, 0, GRAFT_LAST_CHARACTER);
    join(expression, before, start, GRAFT_JOINED_BY_NOTHING, 0, 0);
    read_alternatives(expression, start, end);
    join(expression, end, after, GRAFT_JOINED_BY_NOTHING, 0, 0);
    join(expression, after, after, GRAFT_JOINED_BY_CHARACTERS, 0, GRAFT_LAST_CHARACTER);
    if (expression->at < expression->end) {
        refuse(expression, "it has a ) too many");
    }
    if (expression->status == GRAFT_OK) {
        expression->status = sort_joins(expression);
    }
    return expression->status;
}

void graft_expression_finish(struct graft_expression *expression) {
    graft_free(expression->joins);
    graft_free(expression->first_join);
}
