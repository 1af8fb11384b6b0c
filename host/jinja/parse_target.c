/* SPDX-License-Identifier: Apache-2.0 */
/* Parses names that are assigned to: targets of "for", "set" and "with", and parameters of macros. */
#include "jinja/parser.h"

/* Parses a name, "namespace.member", or targets in parentheses. */
static int parse_one(struct graft_jinja_parser *parser, int with_members, struct graft_jinja_node **node) {
    if (graft_jinja_take(parser, "(")) {
        int status = graft_jinja_enter(parser);
        if (status == GRAFT_OK) {
            status = graft_jinja_parse_target(parser, with_members, node);
        }
        graft_jinja_leave(parser);
        return status == GRAFT_OK ? graft_jinja_expect(parser, ")") : status;
    }
    *node = graft_jinja_node_new(parser, GRAFT_JINJA_NAME);
    if (*node == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_jinja_expect_name(parser, &(*node)->name);
    if (status == GRAFT_OK && with_members && graft_jinja_take(parser, ".")) {
        (*node)->kind = GRAFT_JINJA_MEMBER;
        (*node)->of = (*node)->name;
        status = graft_jinja_expect_name(parser, &(*node)->name);
    }
    return status;
}

int graft_jinja_parse_target(struct graft_jinja_parser *parser, int with_members, struct graft_jinja_node **node) {
    int status = parse_one(parser, with_members, node);
    if (status != GRAFT_OK || !graft_jinja_sees(parser, ",")) {
        return status;
    }
    struct graft_jinja_node *tuple = graft_jinja_node_new(parser, GRAFT_JINJA_LIST_OF);
    if (tuple == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    struct graft_jinja_node_list list = {&tuple->list};
    graft_jinja_append(&list, *node);
    *node = tuple;
    while (status == GRAFT_OK && graft_jinja_take(parser, ",")) {
        struct graft_jinja_node *more = NULL;
        if (parser->token->kind != GRAFT_JINJA_TOKEN_NAME && !graft_jinja_sees(parser, "(")) {
            break;
        }
        if (graft_jinja_sees_name(parser, "in")) {
            break;
        }
        status = parse_one(parser, with_members, &more);
        if (status == GRAFT_OK) {
            graft_jinja_append(&list, more);
        }
    }
    return status;
}

static int parse_parameter(struct graft_jinja_parser *parser, int needs_default, struct graft_jinja_node *node) {
    node->a = graft_jinja_node_new(parser, GRAFT_JINJA_NAME);
    int status = node->a != NULL ? graft_jinja_expect_name(parser, &node->a->name) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK && graft_jinja_take(parser, "=")) {
        return graft_jinja_parse_expression(parser, &node->b);
    }
    if (status == GRAFT_OK && needs_default) {
        return graft_jinja_unexpected(parser, "a default, as the parameter before has one,");
    }
    return status;
}

int graft_jinja_parse_parameters(struct graft_jinja_parser *parser, struct graft_jinja_node **parameters) {
    struct graft_jinja_node_list list = {parameters};
    int has_default = 0;
    int status = graft_jinja_expect(parser, "(");
    while (status == GRAFT_OK && !graft_jinja_take(parser, ")")) {
        status = *parameters != NULL ? graft_jinja_expect(parser, ",") : GRAFT_OK;
        if (status != GRAFT_OK) {
            break;
        }
        struct graft_jinja_node *parameter = graft_jinja_node_new(parser, GRAFT_JINJA_PARAMETER);
        status = parameter != NULL ? parse_parameter(parser, has_default, parameter) : GRAFT_ERROR_INTERNAL;
        if (status == GRAFT_OK) {
            graft_jinja_append(&list, parameter);
            has_default |= parameter->b != NULL;
        }
    }
    return status;
}
