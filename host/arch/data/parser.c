/* SPDX-License-Identifier: Apache-2.0 */
/* Parses tokens into nodes, by operators from the weakest to the strongest; parse_primary.c parses their operands. */
#include "arch/data/parser.h"

#define TOO_DEEP "at most 64 brackets and operators inside each other"

/* --- Tokens --- */

int32_t graft_parser_fail(struct graft_parser *parser, const char *expected) {
    const struct graft_token *token = &parser->token;
    const int is_end = token->kind == GRAFT_TOKEN_END;
    (void)graft_error_set(parser->error, GRAFT_ERROR_PLUGIN, parser->source, "column %d: expected %s, got %s%.*s%s",
                          (int)token->start + 1, expected, is_end ? "the end" : "\"", (int)token->length,
                          parser->text + token->start, is_end ? "" : "\"");
    parser->token.kind = GRAFT_TOKEN_END;
    return GRAFT_PARSER_FAILED;
}

void graft_parser_advance(struct graft_parser *parser) {
    parser->end = parser->token.start + parser->token.length;
    parser->token = graft_token_next(parser->text, parser->end);
}

int graft_parser_is(const struct graft_parser *parser, const char *symbol) {
    return parser->token.kind == GRAFT_TOKEN_SYMBOL && graft_token_is(parser->text, &parser->token, symbol);
}

int graft_parser_take(struct graft_parser *parser, const char *symbol) {
    int is_it = graft_parser_is(parser, symbol);
    if (is_it) {
        graft_parser_advance(parser);
    }
    return is_it;
}

/* --- Nodes --- */

int32_t graft_parser_add(struct graft_parser *parser, enum graft_node_kind kind, int32_t start) {
    parser->nodes[parser->n_nodes] = (struct graft_node){.kind = kind,
                                                         .height = 1,
                                                         .first = -1,
                                                         .second = -1,
                                                         .third = -1,
                                                         .next = -1,
                                                         .start = start,
                                                         .length = parser->end - start};
    return parser->n_nodes++;
}

int32_t graft_parser_add_above(struct graft_parser *parser, enum graft_node_kind kind, int32_t start,
                               const int32_t *children, int32_t n) {
    int32_t height = 0;
    for (int32_t i = 0; i < n; i++) {
        if (children[i] == GRAFT_PARSER_FAILED) {
            return GRAFT_PARSER_FAILED;
        }
        height = parser->nodes[children[i]].height > height ? parser->nodes[children[i]].height : height;
    }
    if (height >= GRAFT_EXPRESSION_LEVELS) {
        return graft_parser_fail(parser, TOO_DEEP);
    }
    int32_t at = graft_parser_add(parser, kind, start);
    parser->nodes[at].height = 1 + height;
    parser->nodes[at].first = n > 0 ? children[0] : -1;
    parser->nodes[at].second = n > 1 ? children[1] : -1;
    parser->nodes[at].third = n > 2 ? children[2] : -1;
    return at;
}

/* --- Operators --- */

/* [load] Calls `parse`, or fails if brackets and operators are nested too deeply. */
static int32_t parse_deeper(struct graft_parser *parser, int32_t (*parse)(struct graft_parser *parser)) {
    if (parser->levels >= GRAFT_EXPRESSION_LEVELS) {
        return graft_parser_fail(parser, TOO_DEEP);
    }
    parser->levels++;
    int32_t at = parse(parser);
    parser->levels--;
    return at;
}

/* Parses a sign. A minus before a number belongs to the number. */
static int32_t parse_sign(struct graft_parser *parser) {
    int32_t start = parser->token.start;
    if (!graft_parser_take(parser, "-")) {
        return graft_parse_primary(parser);
    }
    int32_t at = parse_deeper(parser, parse_sign);
    struct graft_node *node = at != GRAFT_PARSER_FAILED ? &parser->nodes[at] : NULL;
    if (node == NULL || node->kind != GRAFT_NODE_CONSTANT || !graft_value_is_number(&node->constant)) {
        return graft_parser_add_above(parser, GRAFT_NODE_NEGATE, start, &at, 1);
    }
    node->constant.integer = -node->constant.integer;
    node->constant.real = -node->constant.real;
    node->start = start;
    node->length = parser->end - start;
    return at;
}

static int32_t parse_power(struct graft_parser *parser) {
    int32_t start = parser->token.start;
    int32_t children[2] = {parse_sign(parser), -1};
    if (!graft_parser_take(parser, "**")) {
        return children[0];
    }
    children[1] = parse_deeper(parser, parse_power);
    return graft_parser_add_above(parser, GRAFT_NODE_POWER, start, children, 2);
}

/* Left-associative operators, by strength. */
enum { LEVEL_OR, LEVEL_AND, LEVEL_COMPARISON, LEVEL_TERM, LEVEL_FACTOR, LEVEL_POWER };

static const struct {
    const char *symbol;
    int32_t level;
    enum graft_node_kind kind;
} operators[] = {
    {"or", LEVEL_OR, GRAFT_NODE_OR},
    {"and", LEVEL_AND, GRAFT_NODE_AND},
    {"==", LEVEL_COMPARISON, GRAFT_NODE_EQUAL},
    {"!=", LEVEL_COMPARISON, GRAFT_NODE_UNEQUAL},
    {"<", LEVEL_COMPARISON, GRAFT_NODE_LESS},
    {"<=", LEVEL_COMPARISON, GRAFT_NODE_LESS_EQUAL},
    {">", LEVEL_COMPARISON, GRAFT_NODE_GREATER},
    {">=", LEVEL_COMPARISON, GRAFT_NODE_GREATER_EQUAL},
    {"in", LEVEL_COMPARISON, GRAFT_NODE_IN},
    {"not", LEVEL_COMPARISON, GRAFT_NODE_NOT_IN},
    {"+", LEVEL_TERM, GRAFT_NODE_ADD},
    {"-", LEVEL_TERM, GRAFT_NODE_SUBTRACT},
    {"*", LEVEL_FACTOR, GRAFT_NODE_MULTIPLY},
    {"/", LEVEL_FACTOR, GRAFT_NODE_DIVIDE},
    {"//", LEVEL_FACTOR, GRAFT_NODE_FLOOR_DIVIDE},
    {"%", LEVEL_FACTOR, GRAFT_NODE_REMAINDER},
};

/* Takes the next operator if it has that level, and returns its kind of node; GRAFT_NODE_CONSTANT: there is none. */
static enum graft_node_kind take_operator(struct graft_parser *parser, int32_t level) {
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (operators[i].level == level && graft_parser_take(parser, operators[i].symbol)) {
            return operators[i].kind;
        }
    }
    return GRAFT_NODE_CONSTANT;
}

static int32_t parse_level(struct graft_parser *parser, int32_t level);

static int32_t parse_not(struct graft_parser *parser) {
    return parse_level(parser, LEVEL_COMPARISON);
}

/* Parses operands with operators of one level between them; at most one comparison. */
static int32_t parse_level(struct graft_parser *parser, int32_t level) {
    int32_t start = parser->token.start;
    if (level == LEVEL_POWER) {
        return parse_power(parser);
    }
    if (level == LEVEL_COMPARISON && graft_parser_take(parser, "not")) {
        int32_t at = parse_deeper(parser, parse_not);
        return graft_parser_add_above(parser, GRAFT_NODE_NOT, start, &at, 1);
    }
    int32_t at = parse_level(parser, level + 1);
    for (;;) {
        enum graft_node_kind kind = take_operator(parser, level);
        if (kind == GRAFT_NODE_CONSTANT) {
            return at;
        }
        if (kind == GRAFT_NODE_NOT_IN && !graft_parser_take(parser, "in")) {
            return graft_parser_fail(parser, "\"in\"");
        }
        const int32_t children[2] = {at, parse_level(parser, level + 1)};
        at = graft_parser_add_above(parser, kind, start, children, 2);
        if (level == LEVEL_COMPARISON) {
            return at;
        }
    }
}

static int32_t parse_otherwise(struct graft_parser *parser) {
    int32_t start = parser->token.start;
    int32_t children[2] = {parse_level(parser, LEVEL_OR), -1};
    if (!graft_parser_take(parser, "??")) {
        return children[0];
    }
    children[1] = parse_deeper(parser, parse_otherwise);
    return graft_parser_add_above(parser, GRAFT_NODE_OTHERWISE, start, children, 2);
}

static int32_t parse_condition(struct graft_parser *parser) {
    int32_t start = parser->token.start;
    int32_t children[3] = {parse_otherwise(parser), -1, -1};
    if (!graft_parser_take(parser, "?")) {
        return children[0];
    }
    children[1] = graft_parse_expression(parser);
    children[2] = graft_parser_take(parser, ":") ? graft_parse_expression(parser) : graft_parser_fail(parser, "\":\"");
    return graft_parser_add_above(parser, GRAFT_NODE_CONDITION, start, children, 3);
}

int32_t graft_parse_expression(struct graft_parser *parser) {
    return parse_deeper(parser, parse_condition);
}
