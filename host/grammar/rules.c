/* SPDX-License-Identifier: Apache-2.0 */
#include "grammar/rules.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

void graft_rules_free(struct graft_rules *rules) {
    for (size_t i = 0; i < rules->n_rules; i++) {
        graft_free(rules->rules[i].name);
    }
    graft_free(rules->rules);
    graft_free(rules->edges);
    graft_free(rules->first_edge);
    graft_free(rules->is_end);
    *rules = (struct graft_rules){0};
}

static void fail(struct graft_rules *rules, int code) {
    rules->failed = rules->failed != 0 ? rules->failed : code;
}

int32_t graft_rules_state(struct graft_rules *rules) {
    /* A useful state has an edge to it or is the start of a rule, so edges bound the number of states. */
    if (rules->n_states >= 2 * GRAFT_RULES_MOST_EDGES) {
        fail(rules, GRAFT_ERROR_USAGE);
        return 0;
    }
    return rules->n_states++;
}

int32_t graft_rules_around(struct graft_rules *rules, int32_t start, int32_t end) {
    if (graft_grow(&rules->rules, &rules->rules_capacity, rules->n_rules, sizeof *rules->rules) != 0) {
        fail(rules, GRAFT_ERROR_INTERNAL);
        return 0;
    }
    rules->rules[rules->n_rules] = (struct graft_rule){.start = start, .end = end};
    return (int32_t)rules->n_rules++;
}

int32_t graft_rules_add(struct graft_rules *rules, const char *name, size_t length) {
    const int32_t start = graft_rules_state(rules);
    const int32_t rule = graft_rules_around(rules, start, graft_rules_state(rules));
    if (name != NULL && rules->failed == 0) {
        rules->rules[rule].name = graft_strndup(name, length);
        if (rules->rules[rule].name == NULL) {
            fail(rules, GRAFT_ERROR_INTERNAL);
        }
    }
    return rule;
}

int32_t graft_rules_start(const struct graft_rules *rules, int32_t rule) {
    return rules->n_rules > 0 ? rules->rules[rule].start : 0;
}

int32_t graft_rules_end(const struct graft_rules *rules, int32_t rule) {
    return rules->n_rules > 0 ? rules->rules[rule].end : 0;
}

static void add_edge(struct graft_rules *rules, struct graft_edge edge) {
    if (rules->n_edges >= GRAFT_RULES_MOST_EDGES) {
        fail(rules, GRAFT_ERROR_USAGE);
    }
    if (rules->failed != 0) {
        return;
    }
    if (graft_grow(&rules->edges, &rules->edges_capacity, rules->n_edges, sizeof *rules->edges) != 0) {
        fail(rules, GRAFT_ERROR_INTERNAL);
        return;
    }
    rules->edges[rules->n_edges++] = edge;
}

void graft_rules_range(struct graft_rules *rules, int32_t from, int32_t to, unsigned char first, unsigned char last) {
    add_edge(rules, (struct graft_edge){from, to, GRAFT_EDGE_BYTE, first, last});
}

void graft_rules_call(struct graft_rules *rules, int32_t from, int32_t to, int32_t rule) {
    add_edge(rules, (struct graft_edge){from, to, rule, 0, 0});
}

void graft_rules_empty(struct graft_rules *rules, int32_t from, int32_t to) {
    add_edge(rules, (struct graft_edge){from, to, GRAFT_EDGE_EMPTY, 0, 0});
}

void graft_rules_repeat(struct graft_rules *rules, int32_t from, int32_t to, int32_t rule, int64_t least,
                        int64_t most) {
    int32_t here = from;
    for (int64_t i = 0; i < (most < 0 ? least : most) && rules->failed == 0; i++) {
        const int32_t next = graft_rules_state(rules);
        graft_rules_call(rules, here, next, rule);
        if (i >= least) {
            graft_rules_empty(rules, here, to);
        }
        here = next;
    }
    if (most < 0) {
        const int32_t loop = graft_rules_state(rules); /* not `from` itself, which other edges may lead to */
        graft_rules_empty(rules, here, loop);
        graft_rules_call(rules, loop, loop, rule);
        here = loop;
    }
    graft_rules_empty(rules, here, to);
}

void graft_rules_text(struct graft_rules *rules, int32_t from, int32_t to, const char *text, size_t length) {
    for (size_t i = 0; i + 1 < length; i++) {
        const int32_t next = graft_rules_state(rules);
        graft_rules_range(rules, from, next, (unsigned char)text[i], (unsigned char)text[i]);
        from = next;
    }
    if (length == 0) {
        graft_rules_empty(rules, from, to);
    } else {
        graft_rules_range(rules, from, to, (unsigned char)text[length - 1], (unsigned char)text[length - 1]);
    }
}

/* --- Characters --- */

/* Adds a path from state `from` to state `to` for every sequence of `n` bytes between `first` and `last`, which are
 * whole characters in UTF-8 or the last bytes of some. Sequences are split by their first byte: those that begin like
 * `first`, those that begin like `last`, and those between, whose other bytes may be any continuation bytes. */
static void add_sequences(struct graft_rules *rules, int32_t from, int32_t to, const unsigned char *first,
                          const unsigned char *last, size_t n) {
    if (n == 1) {
        graft_rules_range(rules, from, to, first[0], last[0]);
        return;
    }
    static const unsigned char least[4] = {0x80, 0x80, 0x80, 0x80}, most[4] = {0xBF, 0xBF, 0xBF, 0xBF};
    int32_t next;
    if (first[0] == last[0]) {
        next = graft_rules_state(rules);
        graft_rules_range(rules, from, next, first[0], first[0]);
        add_sequences(rules, next, to, first + 1, last + 1, n - 1);
        return;
    }
    const int starts_whole = memcmp(first + 1, least, n - 1) == 0;
    const int ends_whole = memcmp(last + 1, most, n - 1) == 0;
    const unsigned char low = (unsigned char)(first[0] + !starts_whole);
    const unsigned char high = (unsigned char)(last[0] - !ends_whole);
    if (!starts_whole) {
        next = graft_rules_state(rules);
        graft_rules_range(rules, from, next, first[0], first[0]);
        add_sequences(rules, next, to, first + 1, most, n - 1);
    }
    if (low <= high) {
        next = graft_rules_state(rules);
        graft_rules_range(rules, from, next, low, high);
        add_sequences(rules, next, to, least, most, n - 1);
    }
    if (!ends_whole) {
        next = graft_rules_state(rules);
        graft_rules_range(rules, from, next, last[0], last[0]);
        add_sequences(rules, next, to, least, last + 1, n - 1);
    }
}

void graft_rules_characters(struct graft_rules *rules, int32_t from, int32_t to, uint32_t first, uint32_t last) {
    static const uint32_t parts[][2] = {
        {0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, 0x10FFFF}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const uint32_t low = first > parts[i][0] ? first : parts[i][0];
        const uint32_t high = last < parts[i][1] ? last : parts[i][1];
        unsigned char a[4], b[4];
        if (low <= high) {
            (void)graft_utf8_write(low, (char *)a);
            add_sequences(rules, from, to, a, b, graft_utf8_write(high, (char *)b));
        }
    }
}
