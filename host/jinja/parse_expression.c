/* SPDX-License-Identifier: Apache-2.0 */
/* Parses expressions by precedence, loosest first. Each function is named after the operators it parses. */
#include "jinja/parser.h"

typedef int parse_function(struct graft_jinja_parser *parser, struct graft_jinja_node **node);

struct operator_of {
    const char *text;
    int op;
};

/* Returns whether the next token is one of the operators, and if so consumes it. */
static int take_one(struct graft_jinja_parser *parser, const struct operator_of *operators, size_t n, int *op) {
    for (size_t i = 0; i < n; i++) {
        if (graft_jinja_take(parser, operators[i].text)) {
            *op = operators[i].op;
            return 1;
        }
    }
    return 0;
}

/* Parses operands joined by these operators, from left to right. */
static int parse_binary(struct graft_jinja_parser *parser, parse_function *operand, const struct operator_of *operators,
                        size_t n, struct graft_jinja_node **node) {
    int op = 0;
    int status = operand(parser, node);
    while (status == GRAFT_OK && take_one(parser, operators, n, &op)) {
        struct graft_jinja_node *joined = graft_jinja_node_new(parser, GRAFT_JINJA_BINARY);
        if (joined == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        joined->at = (parser->token - 1)->at;
        joined->op = op;
        joined->a = *node;
        *node = joined;
        status = operand(parser, &joined->b);
    }
    return status;
}

static int parse_unary(struct graft_jinja_parser *parser, int with_filters, struct graft_jinja_node **node) {
    int status = graft_jinja_enter(parser);
    int op = GRAFT_JINJA_ADD;
    static const struct operator_of signs[] = {{"-", GRAFT_JINJA_SUBTRACT}, {"+", GRAFT_JINJA_ADD}};
    if (status == GRAFT_OK && take_one(parser, signs, 2, &op)) {
        *node = graft_jinja_node_new(parser, GRAFT_JINJA_UNARY);
        status = *node != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
        if (status == GRAFT_OK) {
            (*node)->op = op;
            status = parse_unary(parser, 0, &(*node)->a);
        }
    } else if (status == GRAFT_OK) {
        status = graft_jinja_parse_primary(parser, node);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_parse_postfix(parser, node);
    }
    if (status == GRAFT_OK && with_filters) {
        status = graft_jinja_parse_filters(parser, node);
    }
    graft_jinja_leave(parser);
    return status;
}

static int parse_filtered(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    return parse_unary(parser, 1, node);
}

static int parse_power(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    static const struct operator_of powers[] = {{"**", GRAFT_JINJA_POWER}};
    return parse_binary(parser, parse_filtered, powers, 1, node);
}

static int parse_product(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    static const struct operator_of products[] = {{"*", GRAFT_JINJA_MULTIPLY},
                                                  {"/", GRAFT_JINJA_DIVIDE},
                                                  {"//", GRAFT_JINJA_FLOOR_DIVIDE},
                                                  {"%", GRAFT_JINJA_MODULO}};
    return parse_binary(parser, parse_power, products, 4, node);
}

static int parse_concat(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    int status = parse_product(parser, node);
    if (status != GRAFT_OK || !graft_jinja_sees(parser, "~")) {
        return status;
    }
    struct graft_jinja_node *joined = graft_jinja_node_new(parser, GRAFT_JINJA_CONCAT);
    if (joined == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    struct graft_jinja_node_list list = {&joined->list};
    graft_jinja_append(&list, *node);
    *node = joined;
    while (status == GRAFT_OK && graft_jinja_take(parser, "~")) {
        struct graft_jinja_node *part = NULL;
        status = parse_product(parser, &part);
        if (status == GRAFT_OK) {
            graft_jinja_append(&list, part);
        }
    }
    return status;
}

static int parse_sum(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    static const struct operator_of sums[] = {{"+", GRAFT_JINJA_ADD}, {"-", GRAFT_JINJA_SUBTRACT}};
    return parse_binary(parser, parse_concat, sums, 2, node);
}

static int take_comparison(struct graft_jinja_parser *parser, int *op) {
    static const struct operator_of comparisons[] = {
        {"==", GRAFT_JINJA_EQUAL},      {"!=", GRAFT_JINJA_NOT_EQUAL}, {"<", GRAFT_JINJA_LESS},
        {"<=", GRAFT_JINJA_LESS_EQUAL}, {">", GRAFT_JINJA_GREATER},    {">=", GRAFT_JINJA_GREATER_EQUAL},
    };
    if (take_one(parser, comparisons, sizeof comparisons / sizeof comparisons[0], op)) {
        return 1;
    }
    *op = GRAFT_JINJA_IN;
    if (graft_jinja_take_name(parser, "in")) {
        return 1;
    }
    const struct graft_jinja_token *next = parser->token + 1;
    if (graft_jinja_sees_name(parser, "not") && next->kind == GRAFT_JINJA_TOKEN_NAME &&
        graft_jinja_string_is(&next->text, "in")) {
        parser->token += 2;
        *op = GRAFT_JINJA_NOT_IN;
        return 1;
    }
    return 0;
}

static int parse_compare(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    int status = parse_sum(parser, node);
    struct graft_jinja_node_list list = {NULL};
    for (int op; status == GRAFT_OK && take_comparison(parser, &op);) {
        if (list.end == NULL) {
            struct graft_jinja_node *chain = graft_jinja_node_new(parser, GRAFT_JINJA_COMPARE);
            if (chain == NULL) {
                return GRAFT_ERROR_INTERNAL;
            }
            chain->a = *node;
            *node = chain;
            list.end = &chain->list;
        }
        struct graft_jinja_node *compared = graft_jinja_node_new(parser, GRAFT_JINJA_COMPARED);
        if (compared == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        compared->op = op;
        graft_jinja_append(&list, compared);
        status = parse_sum(parser, &compared->a);
    }
    return status;
}

static int parse_not(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    if (!graft_jinja_take_name(parser, "not")) {
        return parse_compare(parser, node);
    }
    int status = graft_jinja_enter(parser);
    if (status == GRAFT_OK) {
        *node = graft_jinja_node_new(parser, GRAFT_JINJA_NOT);
        status = *node != NULL ? parse_not(parser, &(*node)->a) : GRAFT_ERROR_INTERNAL;
    }
    graft_jinja_leave(parser);
    return status;
}

/* "a and b and c" is parsed as "(a and b) and c". */
static int parse_words(struct graft_jinja_parser *parser, parse_function *operand, const char *word,
                       enum graft_jinja_node_kind kind, struct graft_jinja_node **node) {
    int status = operand(parser, node);
    while (status == GRAFT_OK && graft_jinja_take_name(parser, word)) {
        struct graft_jinja_node *joined = graft_jinja_node_new(parser, kind);
        if (joined == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        joined->a = *node;
        *node = joined;
        status = operand(parser, &joined->b);
    }
    return status;
}

static int parse_and(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    return parse_words(parser, parse_not, "and", GRAFT_JINJA_AND, node);
}

/* Parses an expression without "if". */
static int parse_or(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    return parse_words(parser, parse_and, "or", GRAFT_JINJA_OR, node);
}

int graft_jinja_parse_expression(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    int status = graft_jinja_enter(parser);
    if (status == GRAFT_OK) {
        status = parse_or(parser, node);
    }
    while (status == GRAFT_OK && graft_jinja_take_name(parser, "if")) {
        struct graft_jinja_node *condition = graft_jinja_node_new(parser, GRAFT_JINJA_CONDITION);
        if (condition == NULL) {
            status = GRAFT_ERROR_INTERNAL;
            break;
        }
        condition->b = *node;
        *node = condition;
        status = parse_or(parser, &condition->a);
        if (status == GRAFT_OK && graft_jinja_take_name(parser, "else")) {
            status = graft_jinja_parse_expression(parser, &condition->c);
        }
    }
    graft_jinja_leave(parser);
    return status;
}

/* Whether an expression can begin with the next token. */
static int begins_expression(const struct graft_jinja_parser *parser) {
    switch (parser->token->kind) {
    case GRAFT_JINJA_TOKEN_NAME:
        return !graft_jinja_sees_name(parser, "in") && !graft_jinja_sees_name(parser, "if");
    case GRAFT_JINJA_TOKEN_STRING:
    case GRAFT_JINJA_TOKEN_INTEGER:
    case GRAFT_JINJA_TOKEN_FLOAT:
        return 1;
    case GRAFT_JINJA_TOKEN_OPERATOR:
        return graft_jinja_sees(parser, "(") || graft_jinja_sees(parser, "[") || graft_jinja_sees(parser, "{") ||
               graft_jinja_sees(parser, "-") || graft_jinja_sees(parser, "+");
    default:
        return 0;
    }
}

int graft_jinja_parse_tuple(struct graft_jinja_parser *parser, int with_if, struct graft_jinja_node **node) {
    parse_function *element = with_if ? graft_jinja_parse_expression : parse_or;
    int status = element(parser, node);
    if (status != GRAFT_OK || !graft_jinja_sees(parser, ",")) {
        return status;
    }
    struct graft_jinja_node *tuple = graft_jinja_node_new(parser, GRAFT_JINJA_LIST_OF);
    if (tuple == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    tuple->op = 1;
    struct graft_jinja_node_list list = {&tuple->list};
    graft_jinja_append(&list, *node);
    *node = tuple;
    while (status == GRAFT_OK && graft_jinja_take(parser, ",") && begins_expression(parser)) {
        struct graft_jinja_node *item = NULL;
        status = element(parser, &item);
        if (status == GRAFT_OK) {
            graft_jinja_append(&list, item);
        }
    }
    return status;
}
