/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parser's files: the position among the tokens, and functions that make nodes. */
#ifndef GRAFT_JINJA_PARSER_H
#define GRAFT_JINJA_PARSER_H

#include "jinja/node.h"

struct graft_jinja_parser {
    const struct graft_jinja_source *source;
    struct graft_jinja_arena *arena;
    const struct graft_jinja_token *token; /* the next token */
    int depth;                             /* of recursive calls */
    int loops;                             /* loops around the current statement, within its macro */
    struct graft_error *error;
};

/* A list under construction: append nodes by graft_jinja_append. Starts as {&first}. */
struct graft_jinja_node_list {
    struct graft_jinja_node **end;
};

static inline void graft_jinja_append(struct graft_jinja_node_list *list, struct graft_jinja_node *node) {
    *list->end = node;
    list->end = &node->next;
}

/* Makes a node at the next token. Returns NULL, with an error, if memory ran out. */
struct graft_jinja_node *graft_jinja_node_new(struct graft_jinja_parser *parser, enum graft_jinja_node_kind kind);

/* Records an error at the next token. Returns GRAFT_ERROR_MODEL. */
int graft_jinja_unexpected(struct graft_jinja_parser *parser, const char *expected);

/* Whether the next token is this operator or this name. */
int graft_jinja_sees(const struct graft_jinja_parser *parser, const char *operator_text);
int graft_jinja_sees_name(const struct graft_jinja_parser *parser, const char *name);
/* Consumes the next token if it is this operator or this name. Returns whether it was. */
int graft_jinja_take(struct graft_jinja_parser *parser, const char *operator_text);
int graft_jinja_take_name(struct graft_jinja_parser *parser, const char *name);
/* Consumes this operator, or records an error. */
int graft_jinja_expect(struct graft_jinja_parser *parser, const char *operator_text);
/* Consumes a name, and returns it as a string with a NUL. */
int graft_jinja_expect_name(struct graft_jinja_parser *parser, struct graft_jinja_string *name);

/* Call this where the parser recurses; undo it with graft_jinja_leave. */
int graft_jinja_enter(struct graft_jinja_parser *parser);
void graft_jinja_leave(struct graft_jinja_parser *parser);

/* Parses an expression that may contain "if". `*node` is NULL on failure. */
int graft_jinja_parse_expression(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* Parses "a", or "a, b", which is a tuple. */
int graft_jinja_parse_tuple(struct graft_jinja_parser *parser, int with_if, struct graft_jinja_node **node);
/* Parses a constant, name, list, dict, or an expression in parentheses. */
int graft_jinja_parse_primary(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* Parses the attributes, items and calls that follow `*node`. */
int graft_jinja_parse_postfix(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* Parses the filters and tests that follow `*node`, and calls of their results. */
int graft_jinja_parse_filters(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* Parses "name(arguments) | name ..."; the first filter applies to `*node`. */
int graft_jinja_parse_filter_names(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* Parses what "for", "set" and "with" assign to. */
int graft_jinja_parse_target(struct graft_jinja_parser *parser, int with_members, struct graft_jinja_node **node);
/* Parses "(a, b=1)"; with `all_with_values` each parameter must have a value. */
int graft_jinja_parse_parameters(struct graft_jinja_parser *parser, struct graft_jinja_node **parameters);

/* Parses statements up to a block whose name is one of `ends` (NULL-terminated), consumes that name and sets `*end` to
 * its index. With `ends` NULL: up to the end of the template. */
int graft_jinja_parse_body(struct graft_jinja_parser *parser, const char *const *ends, int *end,
                           struct graft_jinja_node **first);

#endif
