/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grammar over bytes: rules, each a graph of states with one start and one end. An edge takes a byte of a range, or
 * whatever another rule takes, or nothing. Rules may call each other and themselves, but not before a byte was taken
 * (left recursion).
 *
 * Made in two steps: states and edges are added; then graft_rules_finish drops what can never come to an end, puts the
 * edges in order and finds which bytes are alike. From then on nothing changes, and any thread may read.
 */
#ifndef GRAFT_GRAMMAR_RULES_H
#define GRAFT_GRAMMAR_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "graft/error.h"

enum {
    GRAFT_RULES_MOST_EDGES = 4 << 20, /* of a grammar; states are bounded with them */
    GRAFT_EDGE_BYTE = -1,             /* instead of a rule's number */
    GRAFT_EDGE_EMPTY = -2
};

struct graft_edge {
    int32_t from;
    int32_t to;
    int32_t rule; /* that is called, or GRAFT_EDGE_... */
    unsigned char first, last;
};

struct graft_rule {
    int32_t start;
    int32_t end;
    char *name; /* for messages; NULL: it has none */
};

/* Starts as {0}. A fault, out of memory or too many edges, is kept until graft_rules_finish. */
struct graft_rules {
    struct graft_rule *rules; /* [n_rules]; number 0 is the root */
    size_t n_rules;
    size_t rules_capacity;
    struct graft_edge *edges; /* [n_edges], those of a state together once finished */
    size_t n_edges;
    size_t edges_capacity;
    int32_t n_states;
    int32_t *first_edge;         /* [n_states + 1] once finished */
    unsigned char *is_end;       /* [n_states] once finished: 1 for the end of a rule */
    unsigned char class_of[256]; /* once finished: bytes of one class are taken by the same edges */
    unsigned char byte_of[256];  /* [n_classes] one byte of each */
    int n_classes;
    int failed; /* 0, or GRAFT_ERROR_... */
};

void graft_rules_free(struct graft_rules *rules);

/* A new rule, whose states are new; its number. `name` [length] is copied; NULL: it has none. */
int32_t graft_rules_add(struct graft_rules *rules, const char *name, size_t length);

/* The same for states that are there: `end` gets no edges to others. */
int32_t graft_rules_around(struct graft_rules *rules, int32_t start, int32_t end);

int32_t graft_rules_start(const struct graft_rules *rules, int32_t rule);
int32_t graft_rules_end(const struct graft_rules *rules, int32_t rule);

/* A new state, of whatever rule its edges make it one of. */
int32_t graft_rules_state(struct graft_rules *rules);

void graft_rules_range(struct graft_rules *rules, int32_t from, int32_t to, unsigned char first, unsigned char last);
void graft_rules_call(struct graft_rules *rules, int32_t from, int32_t to, int32_t rule);

/* What the rule takes, at least `least` times and at most `most`, or, with -1, as often as there is. */
void graft_rules_repeat(struct graft_rules *rules, int32_t from, int32_t to, int32_t rule, int64_t least, int64_t most);
void graft_rules_empty(struct graft_rules *rules, int32_t from, int32_t to);
void graft_rules_text(struct graft_rules *rules, int32_t from, int32_t to, const char *text, size_t length);

/* The UTF-8 of each character from `first` to `last`, but for surrogates. */
void graft_rules_characters(struct graft_rules *rules, int32_t from, int32_t to, uint32_t first, uint32_t last);

/* `source` names the grammar in errors: out of memory, too large, left recursion, or nothing that fits it
 * (GRAFT_ERROR_USAGE). */
int graft_rules_finish(struct graft_rules *rules, const char *source, struct graft_error *error);

#endif
