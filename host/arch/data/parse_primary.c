/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/data/parser.h"

/* Adds a node for a token, which is copied to the words without its first and last `quotes` bytes. */
static int32_t add_word(struct graft_parser *parser, enum graft_node_kind kind, int32_t quotes) {
    const struct graft_token token = parser->token;
    graft_parser_advance(parser);
    int32_t at = graft_parser_add(parser, kind, token.start);
    parser->nodes[at].word = token.start + quotes;
    parser->words[token.start + token.length - quotes] = '\0';
    return at;
}

static int32_t add_constant(struct graft_parser *parser, struct graft_value value) {
    int32_t start = parser->token.start;
    graft_parser_advance(parser);
    int32_t at = graft_parser_add(parser, GRAFT_NODE_CONSTANT, start);
    parser->nodes[at].constant = value;
    return at;
}

/* Parses a list, after its "[". */
static int32_t parse_list(struct graft_parser *parser, int32_t start) {
    int32_t first = -1, last = -1, height = 0;
    while (!graft_parser_take(parser, "]")) {
        if (first != -1 && !graft_parser_take(parser, ",")) {
            return graft_parser_fail(parser, "\",\" or \"]\"");
        }
        int32_t at = graft_parse_expression(parser);
        if (at == GRAFT_PARSER_FAILED) {
            return GRAFT_PARSER_FAILED;
        }
        height = parser->nodes[at].height > height ? parser->nodes[at].height : height;
        first = first == -1 ? at : first;
        if (last != -1) {
            parser->nodes[last].next = at;
        }
        last = at;
    }
    int32_t at = graft_parser_add(parser, GRAFT_NODE_LIST, start);
    parser->nodes[at].first = first;
    parser->nodes[at].height = 1 + height;
    return at;
}

static int32_t parse_call(struct graft_parser *parser, const struct graft_token *name) {
    static const struct {
        const char *name;
        enum graft_node_kind kind;
        int32_t arguments;
    } functions[] = {{"sqrt", GRAFT_NODE_SQRT, 1},         {"log", GRAFT_NODE_LOG, 1},   {"int", GRAFT_NODE_INT, 1},
                     {"min", GRAFT_NODE_MIN, 2},           {"max", GRAFT_NODE_MAX, 2},   {"count", GRAFT_NODE_COUNT, 2},
                     {"is_array", GRAFT_NODE_IS_ARRAY, 1}, {"bf16", GRAFT_NODE_BF16, 1}, {"size", GRAFT_NODE_SIZE, 1}};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        int32_t arguments[2] = {-1, -1};
        if (!graft_token_is(parser->text, name, functions[i].name)) {
            continue;
        }
        for (int32_t n = 0; n < functions[i].arguments; n++) {
            arguments[n] = n == 0 || graft_parser_take(parser, ",") ? graft_parse_expression(parser)
                                                                    : graft_parser_fail(parser, "\",\"");
        }
        return graft_parser_take(parser, ")")
                   ? graft_parser_add_above(parser, functions[i].kind, name->start, arguments, functions[i].arguments)
                   : graft_parser_fail(parser, "\")\"");
    }
    parser->token = *name;
    return graft_parser_fail(parser, "sqrt, log, int, bf16, min, max, count, size or is_array");
}

/* Parses ".name" after an element, if it is there. */
static int32_t parse_below(struct graft_parser *parser, int32_t element) {
    if (!graft_parser_take(parser, ".")) {
        return element;
    }
    if (parser->token.kind != GRAFT_TOKEN_NAME) {
        return graft_parser_fail(parser, "a name");
    }
    const struct graft_token name = parser->token;
    graft_parser_advance(parser);
    parser->nodes[element].word = name.start;
    parser->words[name.start + name.length] = '\0';
    parser->nodes[element].length = parser->end - parser->nodes[element].start;
    return element;
}

/* Parses a field, an element of one, or a call. */
static int32_t parse_name(struct graft_parser *parser) {
    const struct graft_token name = parser->token;
    const struct graft_token next = graft_token_next(parser->text, name.start + name.length);
    if (parser->text[next.start] == '(') {
        graft_parser_advance(parser);
        graft_parser_advance(parser);
        return parse_call(parser, &name);
    }
    int32_t children[2] = {add_word(parser, GRAFT_NODE_FIELD, 0), -1};
    if (!graft_parser_take(parser, "[")) {
        return children[0];
    }
    children[1] = graft_parse_expression(parser);
    if (!graft_parser_take(parser, "]")) {
        return graft_parser_fail(parser, "\"]\"");
    }
    return parse_below(parser, graft_parser_add_above(parser, GRAFT_NODE_ELEMENT, name.start, children, 2));
}

static int32_t parse_brackets(struct graft_parser *parser, int32_t start) {
    int32_t at = graft_parse_expression(parser);
    if (!graft_parser_take(parser, ")")) {
        return graft_parser_fail(parser, "\")\"");
    }
    parser->nodes[at].start = start;
    parser->nodes[at].length = parser->end - start;
    return at;
}

int32_t graft_parse_primary(struct graft_parser *parser) {
    int32_t start = parser->token.start;
    switch (parser->token.kind) {
    case GRAFT_TOKEN_NAME:
        return parse_name(parser);
    case GRAFT_TOKEN_NUMBER:
        return add_constant(parser, parser->token.number);
    case GRAFT_TOKEN_LARGE:
        return graft_parser_fail(parser, "a number that 64 bits hold");
    case GRAFT_TOKEN_TEXT: {
        int32_t at = add_word(parser, GRAFT_NODE_CONSTANT, 1);
        parser->nodes[at].constant.kind = GRAFT_VALUE_TEXT;
        return at;
    }
    case GRAFT_TOKEN_OPEN:
        return graft_parser_fail(parser, "a second \"'\"");
    default:
        break;
    }
    if (graft_parser_is(parser, "true") || graft_parser_is(parser, "false")) {
        return add_constant(parser, graft_operand_bool(graft_parser_is(parser, "true")).value);
    }
    if (graft_parser_is(parser, "null")) {
        return add_constant(parser, graft_operand_null().value);
    }
    if (graft_parser_take(parser, "layer")) {
        return graft_parser_add(parser, GRAFT_NODE_LAYER, start);
    }
    return graft_parser_take(parser, "[")   ? parse_list(parser, start)
           : graft_parser_take(parser, "(") ? parse_brackets(parser, start)
                                            : graft_parser_fail(parser, "a value");
}
