/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deterministic automata over characters: the strings that `pattern`, `format` and the like allow, and the names of
 * members. They can be intersected and subtracted, and become rules for JSON strings.
 */
#ifndef GRAFT_GRAMMAR_DFA_H
#define GRAFT_GRAMMAR_DFA_H

#include "grammar/rules.h"

enum { GRAFT_DFA_MOST_STATES = 20000, GRAFT_LAST_CHARACTER = 0x10FFFF };

/* A transition: the characters `first` to `last` lead to state `to`. */
struct graft_dfa_edge {
    uint32_t first, last;
    int32_t to;
};

struct graft_dfa_state {
    size_t first_edge; /* its transitions are edges[first_edge] and on, sorted by character; other characters are
                          refused */
    size_t n_edges;
    int accepts;
};

/* State 0 is the start. An automaton without states accepts nothing. */
struct graft_dfa {
    struct graft_dfa_state *states;
    size_t n_states, states_capacity;
    struct graft_dfa_edge *edges;
    size_t n_edges, edges_capacity;
};

/* Functions that make an automaton return GRAFT_OK, GRAFT_ERROR_INTERNAL if memory ran out, or GRAFT_ERROR_USAGE if the
 * automaton would be too large. `made` need not be initialised; on failure it is empty. */

void graft_dfa_free(struct graft_dfa *dfa);

/* Accepts all strings of `least` to `most` characters; with `most` < 0 there is no upper limit. */
int graft_dfa_lengths(int64_t least, int64_t most, struct graft_dfa *made);

/* Accepts the strings that both accept or, with `minus`, those that `a` accepts and `b` does not. */
int graft_dfa_combine(const struct graft_dfa *a, const struct graft_dfa *b, int minus, struct graft_dfa *made);

/* Accepts each of `n` strings (UTF-8, NUL-terminated) and nothing else. Sorts `texts`. */
int graft_dfa_texts(const char **texts, size_t n, struct graft_dfa *made);

/* Accepts the strings in which a regular expression as JSON Schema uses them (ECMA-262) matches somewhere. An
 * unsupported or malformed expression is GRAFT_ERROR_USAGE as well; `*fault` then says why, and is NULL after any other
 * result. */
int graft_dfa_pattern(const char *text, size_t length, struct graft_dfa *made, const char **fault);

/* Whether the automaton accepts a string of `length` bytes. */
int graft_dfa_accepts(const struct graft_dfa *dfa, const char *text, size_t length);

/* Whether the automaton accepts no string at all. */
int graft_dfa_is_empty(const struct graft_dfa *dfa);

/* Adds rules for the accepted strings as JSON writes them between the quotes: characters stand for themselves, and only
 * those that JSON does not allow there are escaped. */
void graft_dfa_add_rules(const struct graft_dfa *dfa, struct graft_rules *rules, int32_t from, int32_t to);

/* Used while an automaton is built. */
int graft_dfa_add_state(struct graft_dfa *dfa, int accepts);
int graft_dfa_add_edge(struct graft_dfa *dfa, uint32_t first, uint32_t last, int32_t to); /* from the last state */

#endif
