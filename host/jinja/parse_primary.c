/* SPDX-License-Identifier: Apache-2.0 */
/* Parses constants, names, lists and dicts, and what follows them: attributes, items, calls, filters, tests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "jinja/parser.h"

static int parse_number(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    const char *digits = parser->token->text.bytes;
    errno = 0;
    if (parser->token->kind == GRAFT_JINJA_TOKEN_INTEGER) {
        node->constant = graft_jinja_int(strtoll(digits, NULL, 10));
    } else {
        node->constant = graft_jinja_float(strtod(digits, NULL));
    }
    if (errno == ERANGE && parser->token->kind == GRAFT_JINJA_TOKEN_INTEGER) {
        return graft_jinja_unexpected(parser, "an integer of 64 bits");
    }
    parser->token++;
    return GRAFT_OK;
}

/* Adjacent strings are joined, as in C. */
static int parse_string(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    struct graft_jinja_string whole = parser->token++->text;
    while (parser->token->kind == GRAFT_JINJA_TOKEN_STRING) {
        const struct graft_jinja_string *more = &parser->token++->text;
        char *joined = graft_jinja_arena_take(parser->arena, whole.length + more->length + 1, 1);
        if (joined == NULL) {
            return graft_fail_memory(parser->error, parser->source->name);
        }
        memcpy(joined, whole.bytes, whole.length);
        memcpy(joined + whole.length, more->bytes, more->length);
        whole.bytes = joined;
        whole.length += more->length;
    }
    node->constant = graft_jinja_text(whole);
    return GRAFT_OK;
}

static int parse_name(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    static const struct {
        const char *name;
        int is_none;
        int truth;
    } words[] = {{"true", 0, 1}, {"True", 0, 1}, {"false", 0, 0}, {"False", 0, 0}, {"none", 1, 0}, {"None", 1, 0}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (graft_jinja_take_name(parser, words[i].name)) {
            node->constant = words[i].is_none ? graft_jinja_none() : graft_jinja_bool(words[i].truth);
            return GRAFT_OK;
        }
    }
    node->kind = GRAFT_JINJA_NAME;
    return graft_jinja_expect_name(parser, &node->name);
}

/* Parses elements up to `close`; the opening bracket has been consumed. */
static int parse_elements(struct graft_jinja_parser *parser, const char *close, struct graft_jinja_node *node) {
    struct graft_jinja_node_list list = {&node->list};
    int status = GRAFT_OK;
    while (status == GRAFT_OK && !graft_jinja_take(parser, close)) {
        struct graft_jinja_node *element = NULL;
        status = node->list != NULL ? graft_jinja_expect(parser, ",") : GRAFT_OK;
        if (status != GRAFT_OK || graft_jinja_take(parser, close)) {
            break;
        }
        status = graft_jinja_parse_expression(parser, &element);
        if (status == GRAFT_OK) {
            graft_jinja_append(&list, element);
        }
        if (status == GRAFT_OK && node->kind == GRAFT_JINJA_DICT_OF) {
            status = graft_jinja_expect(parser, ":");
            if (status == GRAFT_OK) {
                status = graft_jinja_parse_expression(parser, &element);
            }
            if (status == GRAFT_OK) {
                graft_jinja_append(&list, element);
            }
        }
    }
    return status;
}

/* "(a)" is the value a; "(a,)", "(a, b)" and "()" are tuples. */
static int parse_parentheses(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    if (graft_jinja_take(parser, ")")) {
        (*node)->kind = GRAFT_JINJA_LIST_OF;
        (*node)->op = 1;
        return GRAFT_OK;
    }
    int status = graft_jinja_parse_tuple(parser, 1, node);
    return status == GRAFT_OK ? graft_jinja_expect(parser, ")") : status;
}

int graft_jinja_parse_primary(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    *node = graft_jinja_node_new(parser, GRAFT_JINJA_CONSTANT);
    if (*node == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    switch (parser->token->kind) {
    case GRAFT_JINJA_TOKEN_NAME:
        return parse_name(parser, *node);
    case GRAFT_JINJA_TOKEN_STRING:
        return parse_string(parser, *node);
    case GRAFT_JINJA_TOKEN_INTEGER:
    case GRAFT_JINJA_TOKEN_FLOAT:
        return parse_number(parser, *node);
    default:
        break;
    }
    if (graft_jinja_take(parser, "(")) {
        return parse_parentheses(parser, node);
    }
    if (graft_jinja_take(parser, "[")) {
        (*node)->kind = GRAFT_JINJA_LIST_OF;
        return parse_elements(parser, "]", *node);
    }
    if (graft_jinja_take(parser, "{")) {
        (*node)->kind = GRAFT_JINJA_DICT_OF;
        return parse_elements(parser, "}", *node);
    }
    return graft_jinja_unexpected(parser, "an expression");
}

/* One argument: a, name=a, *a or **a. */
static int parse_argument(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    const struct graft_jinja_token *next = parser->token + 1;
    if (graft_jinja_take(parser, "*")) {
        node->op = 1;
    } else if (graft_jinja_take(parser, "**")) {
        node->op = 2;
    } else if (parser->token->kind == GRAFT_JINJA_TOKEN_NAME && next->kind == GRAFT_JINJA_TOKEN_OPERATOR &&
               graft_jinja_string_is(&next->text, "=")) {
        int status = graft_jinja_expect_name(parser, &node->name);
        if (status != GRAFT_OK) {
            return status;
        }
        parser->token++;
    }
    return graft_jinja_parse_expression(parser, &node->a);
}

/* Parses the arguments of a call, beginning with "(". */
static int parse_arguments(struct graft_jinja_parser *parser, struct graft_jinja_node **arguments) {
    struct graft_jinja_node_list list = {arguments};
    int status = graft_jinja_expect(parser, "(");
    while (status == GRAFT_OK && !graft_jinja_take(parser, ")")) {
        status = *arguments != NULL ? graft_jinja_expect(parser, ",") : GRAFT_OK;
        if (status != GRAFT_OK || graft_jinja_take(parser, ")")) {
            break;
        }
        struct graft_jinja_node *argument = graft_jinja_node_new(parser, GRAFT_JINJA_ARGUMENT);
        status = argument != NULL ? parse_argument(parser, argument) : GRAFT_ERROR_INTERNAL;
        if (status == GRAFT_OK) {
            graft_jinja_append(&list, argument);
        }
    }
    return status;
}

/* Wraps `*node` in a node of this kind. */
static struct graft_jinja_node *around(struct graft_jinja_parser *parser, enum graft_jinja_node_kind kind,
                                       struct graft_jinja_node **node) {
    struct graft_jinja_node *outer = graft_jinja_node_new(parser, kind);
    if (outer != NULL) {
        outer->a = *node;
        *node = outer;
    }
    return outer;
}

/* Parses one part of a subscript, which may be missing before ":", "]" and ",". */
static int parse_bound(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    if (graft_jinja_sees(parser, ":") || graft_jinja_sees(parser, "]")) {
        return GRAFT_OK;
    }
    return graft_jinja_parse_expression(parser, node);
}

/* After "[". */
static int parse_subscript(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    struct graft_jinja_node *item = around(parser, GRAFT_JINJA_ITEM, node);
    if (item == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = parse_bound(parser, &item->b);
    if (status == GRAFT_OK && graft_jinja_take(parser, ":")) {
        item->kind = GRAFT_JINJA_SLICE;
        status = parse_bound(parser, &item->c);
        if (status == GRAFT_OK && graft_jinja_take(parser, ":")) {
            status = parse_bound(parser, &item->d);
        }
    } else if (status == GRAFT_OK && item->b == NULL) {
        return graft_jinja_unexpected(parser, "an expression");
    }
    return status == GRAFT_OK ? graft_jinja_expect(parser, "]") : status;
}

/* Parses what follows ".": a name, or an element's number. */
static int parse_attribute(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    struct graft_jinja_node *attribute = around(parser, GRAFT_JINJA_ATTRIBUTE, node);
    if (attribute == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    if (parser->token->kind != GRAFT_JINJA_TOKEN_INTEGER) {
        return graft_jinja_expect_name(parser, &attribute->name);
    }
    attribute->kind = GRAFT_JINJA_ITEM;
    return graft_jinja_parse_primary(parser, &attribute->b);
}

static int parse_call(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    struct graft_jinja_node *call = around(parser, GRAFT_JINJA_CALL, node);
    return call != NULL ? parse_arguments(parser, &call->list) : GRAFT_ERROR_INTERNAL;
}

int graft_jinja_parse_postfix(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    int status = GRAFT_OK;
    for (int goes_on = 1; goes_on && status == GRAFT_OK;) {
        if (graft_jinja_take(parser, ".")) {
            status = parse_attribute(parser, node);
        } else if (graft_jinja_take(parser, "[")) {
            status = parse_subscript(parser, node);
        } else if (graft_jinja_sees(parser, "(")) {
            status = parse_call(parser, node);
        } else {
            goes_on = 0;
        }
    }
    return status;
}

int graft_jinja_parse_filter_names(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    int status = GRAFT_OK;
    do {
        struct graft_jinja_node *filter = around(parser, GRAFT_JINJA_FILTER, node);
        status = filter != NULL ? graft_jinja_expect_name(parser, &filter->name) : GRAFT_ERROR_INTERNAL;
        if (status == GRAFT_OK && graft_jinja_sees(parser, "(")) {
            status = parse_arguments(parser, &filter->list);
        }
    } while (status == GRAFT_OK && graft_jinja_take(parser, "|"));
    return status;
}

/* Whether the next token can begin a test's argument without parentheses. */
static int begins_test_argument(const struct graft_jinja_parser *parser) {
    enum graft_jinja_token_kind kind = parser->token->kind;
    if (kind == GRAFT_JINJA_TOKEN_NAME) {
        return !graft_jinja_sees_name(parser, "else") && !graft_jinja_sees_name(parser, "or") &&
               !graft_jinja_sees_name(parser, "and");
    }
    return kind == GRAFT_JINJA_TOKEN_STRING || kind == GRAFT_JINJA_TOKEN_INTEGER || kind == GRAFT_JINJA_TOKEN_FLOAT ||
           graft_jinja_sees(parser, "[") || graft_jinja_sees(parser, "{");
}

/* After "is". */
static int parse_test(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    struct graft_jinja_node *test = around(parser, GRAFT_JINJA_TEST, node);
    if (test == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    test->op = graft_jinja_take_name(parser, "not");
    int status = graft_jinja_expect_name(parser, &test->name);
    if (status == GRAFT_OK && graft_jinja_sees(parser, "(")) {
        return parse_arguments(parser, &test->list);
    }
    if (status == GRAFT_OK && begins_test_argument(parser)) {
        if (graft_jinja_sees_name(parser, "is")) {
            return graft_jinja_unexpected(parser, "no second test");
        }
        struct graft_jinja_node *argument = graft_jinja_node_new(parser, GRAFT_JINJA_ARGUMENT);
        if (argument == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        test->list = argument;
        status = graft_jinja_parse_primary(parser, &argument->a);
        if (status == GRAFT_OK) {
            status = graft_jinja_parse_postfix(parser, &argument->a);
        }
    }
    return status;
}

int graft_jinja_parse_filters(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    int status = GRAFT_OK;
    for (int goes_on = 1; goes_on && status == GRAFT_OK;) {
        if (graft_jinja_take(parser, "|")) {
            status = graft_jinja_parse_filter_names(parser, node);
        } else if (graft_jinja_take_name(parser, "is")) {
            status = parse_test(parser, node);
        } else if (graft_jinja_sees(parser, "(")) {
            status = parse_call(parser, node);
        } else {
            goes_on = 0;
        }
    }
    return status;
}
