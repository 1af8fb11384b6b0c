/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grammar over bytes: rules, each a graph of states with one start and one end. An edge consumes a byte of a range,
 * or calls another rule and consumes what that accepts, or consumes nothing. Rules may call each other and themselves,
 * but not before a byte was consumed (left recursion).
 *
 * A grammar is made in two steps: states and edges are added; then graft_rules_finish drops the states from which the
 * end of their rule cannot be reached, sorts the edges and groups bytes into classes. After that nothing changes, and
 * any thread may read it.
 */
#ifndef GRAFT_GRAMMAR_RULES_H
#define GRAFT_GRAMMAR_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "graft/error.h"

enum {
    GRAFT_RULES_MOST_EDGES = 4 << 20, /* limit for one grammar, which may have twice as many states */
    GRAFT_EDGE_BYTE = -1,             /* as `rule` of an edge: it consumes a byte, `first` to `last` */
    GRAFT_EDGE_EMPTY = -2             /* as `rule` of an edge: it consumes nothing */
};

struct graft_edge {
    int32_t from;
    int32_t to;
    int32_t rule; /* the rule that is called, or GRAFT_EDGE_... */
    unsigned char first, last;
};

struct graft_rule {
    int32_t start;
    int32_t end;
    char *name; /* for messages; NULL: it has none */
};

/* Starts as {0}. Running out of memory and having too many edges are recorded in `failed` and reported by
 * graft_rules_finish. */
struct graft_rules {
    struct graft_rule *rules; /* [n_rules]; number 0 is the root */
    size_t n_rules;
    size_t rules_capacity;
    struct graft_edge *edges; /* [n_edges], sorted by `from` once finished */
    size_t n_edges;
    size_t edges_capacity;
    int32_t n_states;
    int32_t *first_edge;         /* [n_states + 1] once finished */
    unsigned char *is_end;       /* [n_states] once finished: 1 for the end of a rule */
    unsigned char class_of[256]; /* once finished: no edge tells bytes of one class apart */
    unsigned char byte_of[256];  /* [n_classes] one byte of each */
    int n_classes;
    int failed; /* 0, or GRAFT_ERROR_... */
};

void graft_rules_free(struct graft_rules *rules);

/* Adds a rule with a new start and end, and returns its number. `name` [length] is copied; NULL: the rule has none. */
int32_t graft_rules_add(struct graft_rules *rules, const char *name, size_t length);

/* Adds a rule whose start and end exist already. No edge may lead out of `end`. */
int32_t graft_rules_around(struct graft_rules *rules, int32_t start, int32_t end);

int32_t graft_rules_start(const struct graft_rules *rules, int32_t rule);
int32_t graft_rules_end(const struct graft_rules *rules, int32_t rule);

/* Adds a state. It belongs to the rule that its edges connect it with. */
int32_t graft_rules_state(struct graft_rules *rules);

/* Add an edge that consumes a byte of a range, or calls a rule. */
void graft_rules_range(struct graft_rules *rules, int32_t from, int32_t to, unsigned char first, unsigned char last);
void graft_rules_call(struct graft_rules *rules, int32_t from, int32_t to, int32_t rule);

/* Calls a rule `least` to `most` times; with `most` -1 there is no upper limit. */
void graft_rules_repeat(struct graft_rules *rules, int32_t from, int32_t to, int32_t rule, int64_t least, int64_t most);

/* Add an edge that consumes nothing, or the edges and states for a text. */
void graft_rules_empty(struct graft_rules *rules, int32_t from, int32_t to);
void graft_rules_text(struct graft_rules *rules, int32_t from, int32_t to, const char *text, size_t length);

/* Adds what consumes the UTF-8 of one character from `first` to `last`, surrogates excepted. */
void graft_rules_characters(struct graft_rules *rules, int32_t from, int32_t to, uint32_t first, uint32_t last);

/* Finishes the grammar. `source` names it in errors: GRAFT_ERROR_USAGE where it is too large, has left recursion, or no
 * text fits it. */
int graft_rules_finish(struct graft_rules *rules, const char *source, struct graft_error *error);

#endif
