/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A regular expression as states that are joined by characters, by nothing, and by ^ and $, which are passed at the
 * start and at the end only. State 0 is before the text in which it is looked for, state 1 behind it.
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
    const char *at, *end; /* of the text that is left to read */
    const char *fault;    /* of GRAFT_ERROR_USAGE */
    int status;
    int depth;
    int32_t n_states;
    struct graft_join *joins; /* [n_joins] in the order of their `from` */
    size_t n_joins, capacity;
    int32_t *first_join; /* [n_states + 1] */
};

/* Reads an expression, UTF-8. Returns its status: GRAFT_OK, GRAFT_ERROR_INTERNAL or, with a fault, GRAFT_ERROR_USAGE.
 * Whatever it is, graft_expression_finish follows. */
int graft_expression_read(struct graft_expression *expression, const char *text, size_t length);
void graft_expression_finish(struct graft_expression *expression);

#endif
