/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/data/parser.h"

/* Allocates one block for nodes and two copies of a text. */
static struct graft_expression *create(const struct graft_node *nodes, int32_t n_nodes, const char *text,
                                       const char *words, size_t length) {
    size_t size = sizeof(struct graft_expression) + (size_t)n_nodes * sizeof *nodes + 2 * (length + 1);
    struct graft_expression *expression = length <= INT32_MAX / 2 ? malloc(size) : NULL;
    if (expression == NULL) {
        return NULL;
    }
    *expression = (struct graft_expression){.size = size, .n_nodes = n_nodes, .length = (int32_t)length};
    memcpy(expression->nodes, nodes, (size_t)n_nodes * sizeof *nodes);
    char *texts = (char *)(expression->nodes + n_nodes);
    memcpy(texts, text, length + 1);
    memcpy(texts + length + 1, words, length + 1);
    return expression;
}

struct graft_expression *graft_expression_parse(const char *text, const char *source, struct graft_error *error) {
    size_t length = strlen(text);
    struct graft_expression *expression = NULL;
    if (length > GRAFT_EXPRESSION_MAX) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, source, "expected an expression of at most %d bytes, got %zu",
                              (int)GRAFT_EXPRESSION_MAX, length);
        return NULL;
    }
    char words[GRAFT_EXPRESSION_MAX + 1];
    memcpy(words, text, length + 1);
    struct graft_parser parser = {.text = text, .source = source, .words = words, .error = error};
    parser.nodes = malloc((length + 1) * sizeof *parser.nodes);
    if (parser.nodes == NULL) {
        (void)graft_fail_memory(error, source);
        return NULL;
    }
    parser.token = graft_token_next(text, 0);
    int32_t root = graft_parse_expression(&parser);
    if (root != GRAFT_PARSER_FAILED && parser.token.kind != GRAFT_TOKEN_END) {
        root = graft_parser_fail(&parser, "an operator or the end");
    }
    if (root != GRAFT_PARSER_FAILED) {
        expression = create(parser.nodes, parser.n_nodes, text, words, length);
        if (expression != NULL) {
            expression->root = root;
        } else {
            (void)graft_fail_memory(error, source);
        }
    }
    free(parser.nodes);
    return expression;
}

static void write_constant(const struct graft_value *value, char *text, size_t size) {
    switch (value->kind) {
    case GRAFT_VALUE_BOOL:
        (void)snprintf(text, size, "%s", value->integer != 0 ? "true" : "false");
        return;
    case GRAFT_VALUE_INT:
        (void)snprintf(text, size, "%lld", (long long)value->integer);
        return;
    case GRAFT_VALUE_REAL:
        graft_number_write(value->real, text, size);
        return;
    case GRAFT_VALUE_TEXT:
        (void)snprintf(text, size, "'%s'", value->text);
        return;
    default:
        (void)snprintf(text, size, "null");
    }
}

struct graft_expression *graft_expression_constant(const struct graft_value *value, struct graft_error *error) {
    enum { ROOM = 48 }; /* for any number, and for quotes */
    size_t size = ROOM + (value->kind == GRAFT_VALUE_TEXT ? strlen(value->text) : 0);
    struct graft_node node = {.kind = GRAFT_NODE_CONSTANT,
                              .height = 1,
                              .first = -1,
                              .second = -1,
                              .third = -1,
                              .next = -1,
                              .word = 1, /* after the first quote */
                              .constant = *value};
    struct graft_expression *expression = NULL;
    char *text = malloc(2 * size);
    if (text != NULL) {
        char *words = text + size;
        write_constant(value, text, size);
        size_t length = strlen(text);
        memcpy(words, text, length + 1);
        words[length - 1] = '\0'; /* the second quote */
        node.length = (int32_t)length;
        node.constant.text = NULL;
        node.constant.real = value->kind == GRAFT_VALUE_INT ? (double)value->integer : value->real;
        expression = create(&node, 1, text, words, length);
    }
    free(text);
    if (expression == NULL) {
        (void)graft_fail_memory(error, NULL);
    }
    return expression;
}

struct graft_expression *graft_expression_copy(const struct graft_expression *expression, struct graft_error *error) {
    struct graft_expression *copy = malloc(expression->size);
    if (copy == NULL) {
        (void)graft_fail_memory(error, NULL);
        return NULL;
    }
    return memcpy(copy, expression, expression->size);
}

void graft_expression_destroy(struct graft_expression *expression) {
    free(expression);
}

const char *graft_expression_text(const struct graft_expression *expression) {
    return (const char *)(expression->nodes + expression->n_nodes);
}

/* Whether a field is mentioned before node `at`. */
static int is_again(const struct graft_expression *expression, int32_t at) {
    const char *words = graft_expression_words(expression);
    const struct graft_node *nodes = expression->nodes;
    for (int32_t i = 0; i < at; i++) {
        if (nodes[i].kind == GRAFT_NODE_FIELD && strcmp(words + nodes[i].word, words + nodes[at].word) == 0) {
            return 1;
        }
    }
    return 0;
}

int graft_expression_uses(const struct graft_expression *expression, int (*visit)(void *data, const char *path),
                          void *data) {
    int status = 0;
    for (int32_t i = 0; i < expression->n_nodes && status == 0; i++) {
        if (expression->nodes[i].kind == GRAFT_NODE_FIELD && !is_again(expression, i)) {
            status = visit(data, graft_expression_words(expression) + expression->nodes[i].word);
        }
    }
    return status;
}

int graft_expression_has_layer(const struct graft_expression *expression) {
    for (int32_t i = 0; i < expression->n_nodes; i++) {
        if (expression->nodes[i].kind == GRAFT_NODE_LAYER) {
            return 1;
        }
    }
    return 0;
}

int graft_expression_fixed(const struct graft_expression *expression, struct graft_value *value) {
    const struct graft_node *root = &expression->nodes[expression->root];
    if (root->kind != GRAFT_NODE_CONSTANT) {
        return 0;
    }
    *value = root->constant;
    value->text = value->kind == GRAFT_VALUE_TEXT ? graft_expression_words(expression) + root->word : NULL;
    return 1;
}
