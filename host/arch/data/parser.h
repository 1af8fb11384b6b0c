/* SPDX-License-Identifier: Apache-2.0 */
/* Private: parsing of expressions by recursive descent. Functions return the number of a node, or GRAFT_PARSER_FAILED.
 */
#ifndef GRAFT_ARCH_DATA_PARSER_H
#define GRAFT_ARCH_DATA_PARSER_H

#include "arch/data/expression_node.h"
#include "arch/data/tokens.h"

enum { GRAFT_PARSER_FAILED = -1 };

struct graft_parser {
    const char *text;
    const char *source;
    struct graft_token token; /* the next token */
    int32_t end;              /* end of the token before it */
    int32_t levels;           /* how many brackets and operators are open */
    struct graft_node
        *nodes; /* Each node takes at least one token, so there are never more nodes than bytes of text. */
    int32_t n_nodes;
    char *words; /* a copy of the text */
    struct graft_error *error;
};

/* [load] Records that something else was expected instead of the next token, unless an error is recorded. From then on
 * the next token is the end of the text, so callers need no check before they go on. */
int32_t graft_parser_fail(struct graft_parser *parser, const char *expected);

/* [load] Advances to the next token. */
void graft_parser_advance(struct graft_parser *parser);

/* [load] Whether the next token is that symbol; `take` also advances past it. */
int graft_parser_is(const struct graft_parser *parser, const char *symbol);
int graft_parser_take(struct graft_parser *parser, const char *symbol);

/* [load] Adds a node whose text extends from `start` to the last token. */
int32_t graft_parser_add(struct graft_parser *parser, enum graft_node_kind kind, int32_t start);

/* [load] Adds a node above `children`; fails if parsing one of them failed. */
int32_t graft_parser_add_above(struct graft_parser *parser, enum graft_node_kind kind, int32_t start,
                               const int32_t *children, int32_t n);

/* [load] Parses an expression. */
int32_t graft_parse_expression(struct graft_parser *parser);

/* [load] Parses an operand: a constant, a field, a call, brackets. */
int32_t graft_parse_primary(struct graft_parser *parser);

#endif
