/* SPDX-License-Identifier: Apache-2.0 */
/* Parses statements, which stand between "{%" and "%}", and the texts between them. */
#include <string.h>

#include "jinja/parser.h"

static const char *const no_end[] = {NULL};

static int expect_block_end(struct graft_jinja_parser *parser) {
    if (parser->token->kind != GRAFT_JINJA_TOKEN_BLOCK_END) {
        return graft_jinja_unexpected(parser, "\"%}\"");
    }
    parser->token++;
    return GRAFT_OK;
}

/* Parses the body of a block that only `end` can end. */
static int parse_block(struct graft_jinja_parser *parser, const char *end, struct graft_jinja_node **list) {
    const char *const ends[] = {end, NULL};
    int found = 0;
    int status = expect_block_end(parser);
    if (status == GRAFT_OK) {
        status = graft_jinja_parse_body(parser, ends, &found, list);
    }
    return status == GRAFT_OK ? expect_block_end(parser) : status;
}

/* Parses the body of a macro or call block; break and continue in it do not reach loops around it. */
static int parse_macro_body(struct graft_jinja_parser *parser, const char *end, struct graft_jinja_node **list) {
    int loops = parser->loops;
    parser->loops = 0;
    int status = parse_block(parser, end, list);
    parser->loops = loops;
    return status;
}

/* Parses what follows "if". Each "elif" becomes an "if" inside the "else" branch. */
static int parse_if(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    static const char *const ends[] = {"elif", "else", "endif", NULL};
    int end = 0;
    int status;
    for (;;) {
        status = graft_jinja_parse_tuple(parser, 0, &node->a);
        if (status == GRAFT_OK) {
            status = expect_block_end(parser);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_parse_body(parser, ends, &end, &node->list);
        }
        if (status != GRAFT_OK || end != 0) {
            break;
        }
        node->otherwise = graft_jinja_node_new(parser, GRAFT_JINJA_IF);
        if (node->otherwise == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        node = node->otherwise;
    }
    if (status == GRAFT_OK && end == 1) {
        return parse_block(parser, "endif", &node->otherwise);
    }
    return status == GRAFT_OK ? expect_block_end(parser) : status;
}

static int parse_for(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    static const char *const ends[] = {"else", "endfor", NULL};
    int end = 0;
    int status = graft_jinja_parse_target(parser, 0, &node->a);
    if (status == GRAFT_OK && !graft_jinja_take_name(parser, "in")) {
        status = graft_jinja_unexpected(parser, "\"in\"");
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_parse_tuple(parser, 0, &node->b);
    }
    if (status == GRAFT_OK && graft_jinja_take_name(parser, "if")) {
        status = graft_jinja_parse_expression(parser, &node->c);
    }
    if (status == GRAFT_OK) {
        status = expect_block_end(parser);
    }
    parser->loops++;
    if (status == GRAFT_OK) {
        status = graft_jinja_parse_body(parser, ends, &end, &node->list);
    }
    parser->loops--;
    if (status == GRAFT_OK && end == 0) {
        return parse_block(parser, "endfor", &node->otherwise);
    }
    return status == GRAFT_OK ? expect_block_end(parser) : status;
}

/* Consumes the end of the block's tag. */
static int parse_set(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    int status = graft_jinja_parse_target(parser, 1, &node->a);
    if (status == GRAFT_OK && graft_jinja_take(parser, "=")) {
        status = graft_jinja_parse_tuple(parser, 1, &node->b);
        return status == GRAFT_OK ? expect_block_end(parser) : status;
    }
    node->kind = GRAFT_JINJA_SET_BLOCK;
    if (status == GRAFT_OK && graft_jinja_take(parser, "|")) {
        status = graft_jinja_parse_filter_names(parser, &node->b);
    }
    return status == GRAFT_OK ? parse_block(parser, "endset", &node->list) : status;
}

static int parse_macro(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    int status = graft_jinja_expect_name(parser, &node->name);
    if (status == GRAFT_OK) {
        status = graft_jinja_parse_parameters(parser, &node->parameters);
    }
    return status == GRAFT_OK ? parse_macro_body(parser, "endmacro", &node->list) : status;
}

static int parse_call_block(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    int status = GRAFT_OK;
    if (graft_jinja_sees(parser, "(")) {
        status = graft_jinja_parse_parameters(parser, &node->parameters);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_parse_expression(parser, &node->a);
    }
    if (status == GRAFT_OK && node->a->kind != GRAFT_JINJA_CALL) {
        status = graft_jinja_unexpected(parser, "a call");
    }
    return status == GRAFT_OK ? parse_macro_body(parser, "endcall", &node->list) : status;
}

static int parse_filter_block(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    int status = graft_jinja_parse_filter_names(parser, &node->b);
    return status == GRAFT_OK ? parse_block(parser, "endfilter", &node->list) : status;
}

static int parse_with(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    struct graft_jinja_node_list list = {&node->parameters};
    int status = GRAFT_OK;
    while (status == GRAFT_OK && parser->token->kind != GRAFT_JINJA_TOKEN_BLOCK_END) {
        status = node->parameters != NULL ? graft_jinja_expect(parser, ",") : GRAFT_OK;
        struct graft_jinja_node *assigned = graft_jinja_node_new(parser, GRAFT_JINJA_PARAMETER);
        if (assigned == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_parse_target(parser, 0, &assigned->a);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_expect(parser, "=");
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_parse_expression(parser, &assigned->b);
        }
        if (status == GRAFT_OK) {
            graft_jinja_append(&list, assigned);
        }
    }
    return status == GRAFT_OK ? parse_block(parser, "endwith", &node->list) : status;
}

static int parse_generation(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    return parse_macro_body(parser, "endgeneration", &node->list);
}

static int parse_loop_control(struct graft_jinja_parser *parser, struct graft_jinja_node *node) {
    if (parser->loops == 0) {
        return graft_jinja_fault(parser->error, GRAFT_ERROR_MODEL, parser->source, node->at, "\"%s\" outside of a loop",
                                 node->kind == GRAFT_JINJA_BREAK ? "break" : "continue");
    }
    return expect_block_end(parser);
}

static int parse_statement(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    static const struct {
        const char *name;
        enum graft_jinja_node_kind kind;
        int (*parse)(struct graft_jinja_parser *parser, struct graft_jinja_node *node);
    } statements[] = {
        {"if", GRAFT_JINJA_IF, parse_if},
        {"for", GRAFT_JINJA_FOR, parse_for},
        {"set", GRAFT_JINJA_SET, parse_set},
        {"macro", GRAFT_JINJA_MACRO_OF, parse_macro},
        {"call", GRAFT_JINJA_CALL_BLOCK, parse_call_block},
        {"filter", GRAFT_JINJA_FILTER_BLOCK, parse_filter_block},
        {"with", GRAFT_JINJA_WITH, parse_with},
        {"generation", GRAFT_JINJA_SCOPE, parse_generation},
        {"break", GRAFT_JINJA_BREAK, parse_loop_control},
        {"continue", GRAFT_JINJA_CONTINUE, parse_loop_control},
    };
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (graft_jinja_sees_name(parser, statements[i].name)) {
            *node = graft_jinja_node_new(parser, statements[i].kind);
            parser->token++;
            return *node != NULL ? statements[i].parse(parser, *node) : GRAFT_ERROR_INTERNAL;
        }
    }
    return graft_jinja_unexpected(parser, "a statement that chat templates use");
}

/* Returns whether the next block is one of the ends, and if so consumes its name. */
static int take_end(struct graft_jinja_parser *parser, const char *const *ends, int *end) {
    for (int i = 0; ends[i] != NULL; i++) {
        if (graft_jinja_take_name(parser, ends[i])) {
            *end = i;
            return 1;
        }
    }
    return 0;
}

/* Parses a text or an output expression. */
static int parse_written(struct graft_jinja_parser *parser, struct graft_jinja_node **node) {
    const int is_data = parser->token->kind == GRAFT_JINJA_TOKEN_DATA;
    *node = graft_jinja_node_new(parser, is_data ? GRAFT_JINJA_DATA : GRAFT_JINJA_OUTPUT);
    if (*node == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    (*node)->name = parser->token++->text;
    if (is_data) {
        return GRAFT_OK;
    }
    int status = graft_jinja_parse_tuple(parser, 1, &(*node)->a);
    if (status == GRAFT_OK && parser->token->kind != GRAFT_JINJA_TOKEN_OUTPUT_END) {
        status = graft_jinja_unexpected(parser, "\"}}\"");
    }
    parser->token += status == GRAFT_OK;
    return status;
}

int graft_jinja_parse_body(struct graft_jinja_parser *parser, const char *const *ends, int *end,
                           struct graft_jinja_node **first) {
    struct graft_jinja_node_list list = {first};
    int status = graft_jinja_enter(parser);
    while (status == GRAFT_OK && parser->token->kind != GRAFT_JINJA_TOKEN_END) {
        struct graft_jinja_node *node = NULL;
        if (parser->token->kind == GRAFT_JINJA_TOKEN_BLOCK_BEGIN) {
            parser->token++;
            if (take_end(parser, ends != NULL ? ends : no_end, end)) {
                graft_jinja_leave(parser);
                return GRAFT_OK;
            }
            status = parse_statement(parser, &node);
        } else {
            status = parse_written(parser, &node);
        }
        if (status == GRAFT_OK) {
            graft_jinja_append(&list, node);
        }
    }
    if (status == GRAFT_OK && ends != NULL) {
        char expected[64] = "\"";
        int last = 0;
        while (ends[last + 1] != NULL) {
            last++;
        }
        strcat(strcat(expected, ends[last]), "\"");
        status = graft_jinja_unexpected(parser, expected);
    }
    graft_jinja_leave(parser);
    return status;
}
