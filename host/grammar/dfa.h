/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deterministic automata over characters: the strings that `pattern`, `format` and the like allow, and the names of
 * members. They can be intersected and subtracted, and become rules for JSON strings.
 */
#ifndef GRAFT_GRAMMAR_DFA_H
#define GRAFT_GRAMMAR_DFA_H

#include "grammar/rules.h"

enum { GRAFT_DFA_MOST_STATES = 20000, GRAFT_LAST_CHARACTER = 0x10FFFF };

/* Characters that lead from one state to another. */
struct graft_dfa_edge {
    uint32_t first, last;
    int32_t to;
};

struct graft_dfa_state {
    size_t first_edge; /* of n_edges, by their characters; what is in none leads nowhere */
    size_t n_edges;
    int accepts;
};

/* State 0 is the start; with no states nothing is accepted. */
struct graft_dfa {
    struct graft_dfa_state *states;
    size_t n_states, states_capacity;
    struct graft_dfa_edge *edges;
    size_t n_edges, edges_capacity;
};

/* All functions that make one return GRAFT_OK, GRAFT_ERROR_INTERNAL if memory ran out, or GRAFT_ERROR_USAGE if it would
 * be too large; on failure `made`, which need not be initialised, is empty. */

void graft_dfa_free(struct graft_dfa *dfa);

/* All strings of `least` to `most` characters; `most` < 0: of any number from there on. */
int graft_dfa_lengths(int64_t least, int64_t most, struct graft_dfa *made);

/* What both accept; or, with `minus`, what `a` accepts and `b` does not. */
int graft_dfa_combine(const struct graft_dfa *a, const struct graft_dfa *b, int minus, struct graft_dfa *made);

/* One of `n` strings, UTF-8 and each with a NUL, which are put in order. */
int graft_dfa_texts(const char **texts, size_t n, struct graft_dfa *made);

/* Strings in which the expression, of those that JSON Schema uses (ECMA-262), matches somewhere. What is not supported
 * is GRAFT_ERROR_USAGE, too, and `*fault` says it; else it is NULL. */
int graft_dfa_pattern(const char *text, size_t length, struct graft_dfa *made, const char **fault);

/* Whether it accepts a string. */
int graft_dfa_accepts(const struct graft_dfa *dfa, const char *text, size_t length);

/* Whether it accepts nothing. */
int graft_dfa_is_empty(const struct graft_dfa *dfa);

/* The strings between their quotes, as JSON: characters as they are, and escapes only where there must be some. */
void graft_dfa_add_rules(const struct graft_dfa *dfa, struct graft_rules *rules, int32_t from, int32_t to);

/* For those that make one. */
int graft_dfa_add_state(struct graft_dfa *dfa, int accepts);
int graft_dfa_add_edge(struct graft_dfa *dfa, uint32_t first, uint32_t last, int32_t to); /* of the last state */

#endif
