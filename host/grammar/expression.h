/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A regular expression as a nondeterministic automaton. A transition consumes a character, or nothing; those of ^ and $
 * consume nothing and can be taken only at the start and the end of the text. State 0 is the start, and state 1
 * accepts; both also consume any character, because the expression may match anywhere in the text.
 */
#ifndef GRAFT_GRAMMAR_EXPRESSION_H
#define GRAFT_GRAMMAR_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

enum { GRAFT_JOINED_BY_NOTHING, GRAFT_JOINED_AT_BEGIN, GRAFT_JOINED_AT_END, GRAFT_JOINED_BY_CHARACTERS };

struct graft_join {
    int32_t from, to;
    int kind;
    uint32_t first, last;
};

/* Starts as {0}. */
struct graft_expression {
    const char *at, *end; /* the part of the expression's text that is still to be read */
    const char *fault;    /* why the status is GRAFT_ERROR_USAGE */
    int status;
    int depth;
    int32_t n_states;
    struct graft_join *joins; /* [n_joins] sorted by `from` */
    size_t n_joins, capacity;
    int32_t *first_join; /* [n_states + 1]: state i has joins[first_join[i]] to joins[first_join[i + 1] - 1] */
};

/* Parses an expression in UTF-8. Returns GRAFT_OK, GRAFT_ERROR_INTERNAL, or GRAFT_ERROR_USAGE with `fault` set. Call
 * graft_expression_finish afterwards, even on failure. */
int graft_expression_read(struct graft_expression *expression, const char *text, size_t length);
void graft_expression_finish(struct graft_expression *expression);

#endif
