/* SPDX-License-Identifier: Apache-2.0 */
/* What the parser's files share: the place in the tokens, and how nodes are made. */
#ifndef GRAFT_JINJA_PARSER_H
#define GRAFT_JINJA_PARSER_H

#include "jinja/node.h"

struct graft_jinja_parser {
    const struct graft_jinja_source *source;
    struct graft_jinja_arena *arena;
    const struct graft_jinja_token *token; /* the next one */
    int depth;                             /* of the functions that call themselves */
    int loops;                             /* around the statement that is parsed, within its macro */
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

/* A node at the next token. NULL, with an error, when there is no memory. */
struct graft_jinja_node *graft_jinja_node_new(struct graft_jinja_parser *parser, enum graft_jinja_node_kind kind);

/* Records a fault at the next token. Returns GRAFT_ERROR_MODEL. */
int graft_jinja_unexpected(struct graft_jinja_parser *parser, const char *expected);

/* Whether the next token is this operator or this name. */
int graft_jinja_sees(const struct graft_jinja_parser *parser, const char *operator_text);
int graft_jinja_sees_name(const struct graft_jinja_parser *parser, const char *name);
/* The same, and takes it. */
int graft_jinja_take(struct graft_jinja_parser *parser, const char *operator_text);
int graft_jinja_take_name(struct graft_jinja_parser *parser, const char *name);
/* Takes it, or records a fault. */
int graft_jinja_expect(struct graft_jinja_parser *parser, const char *operator_text);
/* Takes a name, as a string with a NUL. */
int graft_jinja_expect_name(struct graft_jinja_parser *parser, struct graft_jinja_string *name);

/* To be called where the parser calls itself, and to be undone by graft_jinja_leave. */
int graft_jinja_enter(struct graft_jinja_parser *parser);
void graft_jinja_leave(struct graft_jinja_parser *parser);

/* An expression with "if"; `*node` is NULL on failure. */
int graft_jinja_parse_expression(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* The same without "if". */
int graft_jinja_parse_or(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* "a" or "a, b", which is a tuple. */
int graft_jinja_parse_tuple(struct graft_jinja_parser *parser, int with_if, struct graft_jinja_node **node);
/* A constant, name, list, dict, or what is in parentheses. */
int graft_jinja_parse_primary(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* Attributes, items and calls behind `*node`. */
int graft_jinja_parse_postfix(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* Filters and tests behind `*node`, and calls behind those. */
int graft_jinja_parse_filters(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* name(arguments) | name ...: `*node` is what the first applies to. */
int graft_jinja_parse_filter_names(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* The arguments of a call, from its "(" on. */
int graft_jinja_parse_arguments(struct graft_jinja_parser *parser, struct graft_jinja_node **arguments);
/* What "for", "set" and "with" assign to. */
int graft_jinja_parse_target(struct graft_jinja_parser *parser, int with_members, struct graft_jinja_node **node);
/* (a, b=1), with a value for each where `all_with_values`. */
int graft_jinja_parse_parameters(struct graft_jinja_parser *parser, struct graft_jinja_node **parameters);

/* Statements up to a block whose name is one of `ends` (NULL-terminated), behind which name the parser then is;
 * `*end` is its index. With ends NULL: up to the end of the template. */
int graft_jinja_parse_body(struct graft_jinja_parser *parser, const char *const *ends, int *end,
                           struct graft_jinja_node **first);
int graft_jinja_parse_statement(struct graft_jinja_parser *parser, struct graft_jinja_node **node);
/* Takes the end of the block. */
int graft_jinja_expect_block_end(struct graft_jinja_parser *parser);
int graft_jinja_parse_for(struct graft_jinja_parser *parser, struct graft_jinja_node *node);
int graft_jinja_parse_set(struct graft_jinja_parser *parser, struct graft_jinja_node *node);

#endif
