/* SPDX-License-Identifier: Apache-2.0 */
/* Values during evaluation, and their names in messages. */
#include <string.h>

#include "arch/data/expression_node.h"

struct graft_operand graft_operand_null(void) {
    return (struct graft_operand){.value = {.kind = GRAFT_VALUE_NULL}, .field = -1, .element = -1};
}

struct graft_operand graft_operand_bool(int value) {
    return (struct graft_operand){
        .value = {.kind = GRAFT_VALUE_BOOL, .integer = value != 0}, .field = -1, .element = -1};
}

struct graft_operand graft_operand_int(int64_t value) {
    return (struct graft_operand){
        .value = {.kind = GRAFT_VALUE_INT, .integer = value, .real = (double)value}, .field = -1, .element = -1};
}

struct graft_operand graft_operand_real(double value) {
    return (struct graft_operand){.value = {.kind = GRAFT_VALUE_REAL, .real = value}, .field = -1, .element = -1};
}

void graft_operand_read(const struct graft_config *config, const char *path, struct graft_value *value) {
    *value = (struct graft_value){.kind = GRAFT_VALUE_NULL};
    switch (config->kind(config->data, path)) {
    case GRAFT_FIELD_ABSENT:
    case GRAFT_FIELD_NULL:
        return;
    case GRAFT_FIELD_BOOL:
        value->kind = GRAFT_VALUE_BOOL;
        value->integer = config->integer(config->data, path) != 0;
        return;
    case GRAFT_FIELD_INT:
        value->kind = GRAFT_VALUE_INT;
        value->integer = config->integer(config->data, path);
        value->real = (double)value->integer;
        return;
    case GRAFT_FIELD_REAL:
        value->kind = GRAFT_VALUE_REAL;
        value->real = config->real(config->data, path);
        return;
    case GRAFT_FIELD_STRING:
        value->kind = GRAFT_VALUE_TEXT;
        value->text = config->string(config->data, path);
        return;
    case GRAFT_FIELD_ARRAY:
        value->kind = GRAFT_VALUE_ARRAY;
        return;
    case GRAFT_FIELD_OBJECT:
        value->kind = GRAFT_VALUE_OBJECT;
        return;
    default:
        value->kind = GRAFT_VALUE_OTHER;
    }
}

int graft_values_equal(const struct graft_value *a, const struct graft_value *b) {
    if (graft_value_is_number(a) && graft_value_is_number(b)) {
        return a->kind == GRAFT_VALUE_INT && b->kind == GRAFT_VALUE_INT ? a->integer == b->integer : a->real == b->real;
    }
    if (a->kind != b->kind) {
        return 0;
    }
    return a->kind == GRAFT_VALUE_NULL || (a->kind == GRAFT_VALUE_BOOL && a->integer == b->integer) ||
           (a->kind == GRAFT_VALUE_TEXT && strcmp(a->text, b->text) == 0);
}

void graft_value_describe(const struct graft_value *value, struct graft_label *label) {
    switch (value->kind) {
    case GRAFT_VALUE_NULL:
        (void)snprintf(label->text, sizeof label->text, "null");
        return;
    case GRAFT_VALUE_BOOL:
        (void)snprintf(label->text, sizeof label->text, "a boolean (%s)", value->integer != 0 ? "true" : "false");
        return;
    case GRAFT_VALUE_INT:
        (void)snprintf(label->text, sizeof label->text, "an integer (%lld)", (long long)value->integer);
        return;
    case GRAFT_VALUE_REAL:
        (void)snprintf(label->text, sizeof label->text, "a fractional number (%g)", value->real);
        return;
    case GRAFT_VALUE_TEXT:
        (void)snprintf(label->text, sizeof label->text, "a string (\"%.60s\")", value->text);
        return;
    default:
        (void)snprintf(label->text, sizeof label->text, "%s",
                       value->kind == GRAFT_VALUE_ARRAY    ? "an array"
                       : value->kind == GRAFT_VALUE_OBJECT ? "an object"
                       : value->kind == GRAFT_VALUE_LIST   ? "a list"
                                                           : "another kind");
    }
}

void graft_operand_path(const struct graft_scope *scope, const struct graft_operand *operand,
                        struct graft_label *label) {
    const struct graft_node *nodes = scope->expression->nodes;
    const struct graft_node *node = &nodes[operand->field];
    const struct graft_node *field = node->kind == GRAFT_NODE_ELEMENT ? &nodes[node->first] : node;
    const char *path = graft_expression_words(scope->expression) + field->word;
    if (node->kind == GRAFT_NODE_ELEMENT && operand->element >= 0) {
        const char *below = node->word > 0 ? graft_expression_words(scope->expression) + node->word : "";
        (void)snprintf(label->text, sizeof label->text, "%s.%lld%s%s", path, (long long)operand->element,
                       node->word > 0 ? "." : "", below);
    } else {
        (void)snprintf(label->text, sizeof label->text, "%s", path);
    }
}

void graft_operand_label(const struct graft_scope *scope, int32_t at, const struct graft_operand *operand,
                         struct graft_label *label) {
    const struct graft_node *node = &scope->expression->nodes[at];
    if (operand->field >= 0) {
        struct graft_label path;
        graft_operand_path(scope, operand, &path);
        (void)snprintf(label->text, sizeof label->text, "%s", graft_config_spelling(scope->config, path.text));
    } else {
        (void)snprintf(label->text, sizeof label->text, "%.*s", (int)node->length,
                       graft_expression_text(scope->expression) + node->start);
    }
}

int graft_operand_is_missing(const struct graft_scope *scope, const struct graft_operand *operand) {
    struct graft_label path;
    if (operand->value.kind != GRAFT_VALUE_NULL || operand->field < 0 || !operand->is_own) {
        return 0;
    }
    graft_operand_path(scope, operand, &path);
    return scope->config->kind(scope->config->data, path.text) == GRAFT_FIELD_ABSENT;
}

int graft_operand_expected(const struct graft_scope *scope, int32_t at, const struct graft_operand *operand,
                           const char *expected) {
    struct graft_label label, got;
    graft_operand_label(scope, at, operand, &label);
    if (graft_operand_is_missing(scope, operand)) {
        return graft_error_set(scope->error, GRAFT_ERROR_MODEL, scope->config->file, "%s: missing, expected %s",
                               label.text, expected);
    }
    graft_value_describe(&operand->value, &got);
    return graft_error_set(scope->error, GRAFT_ERROR_MODEL, scope->config->file, "%s: expected %s, got %s", label.text,
                           expected, got.text);
}

int graft_node_fail(const struct graft_scope *scope, int32_t at, const char *message) {
    const struct graft_operand none = graft_operand_null();
    struct graft_label label;
    graft_operand_label(scope, at, &none, &label);
    return graft_error_set(scope->error, GRAFT_ERROR_MODEL, scope->config->file, "%s: %s", label.text, message);
}
