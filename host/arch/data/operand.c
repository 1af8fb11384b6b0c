/* SPDX-License-Identifier: Apache-2.0 */
/* Values during evaluation, and their names in messages. */
#include <string.h>

#include "arch/data/expression_node.h"

static struct graft_operand operand_of(struct graft_value value) {
    return (struct graft_operand){.value = value, .field = -1, .element = -1};
}

struct graft_operand graft_operand_null(void) {
    return operand_of((struct graft_value){.kind = GRAFT_VALUE_NULL});
}

struct graft_operand graft_operand_bool(int value) {
    return operand_of((struct graft_value){.kind = GRAFT_VALUE_BOOL, .integer = value != 0});
}

struct graft_operand graft_operand_int(int64_t value) {
    return operand_of((struct graft_value){.kind = GRAFT_VALUE_INT, .integer = value, .real = (double)value});
}

struct graft_operand graft_operand_real(double value) {
    return operand_of((struct graft_value){.kind = GRAFT_VALUE_REAL, .real = value});
}

struct graft_value graft_value_read(const struct graft_config *config, const char *path) {
    switch (config->kind(config->data, path)) {
    case GRAFT_FIELD_ABSENT:
    case GRAFT_FIELD_NULL:
        return (struct graft_value){.kind = GRAFT_VALUE_NULL};
    case GRAFT_FIELD_BOOL:
        return graft_operand_bool(config->integer(config->data, path) != 0).value;
    case GRAFT_FIELD_INT:
        return graft_operand_int(config->integer(config->data, path)).value;
    case GRAFT_FIELD_REAL:
        return graft_operand_real(config->real(config->data, path)).value;
    case GRAFT_FIELD_STRING:
        return (struct graft_value){.kind = GRAFT_VALUE_TEXT, .text = config->string(config->data, path)};
    case GRAFT_FIELD_ARRAY:
        return (struct graft_value){.kind = GRAFT_VALUE_ARRAY};
    case GRAFT_FIELD_OBJECT:
        return (struct graft_value){.kind = GRAFT_VALUE_OBJECT};
    default:
        return (struct graft_value){.kind = GRAFT_VALUE_OTHER};
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
    const char *words = graft_expression_words(scope->expression);
    const struct graft_node *nodes = scope->expression->nodes, *node = &nodes[operand->field];
    const struct graft_node *field = node->kind == GRAFT_NODE_ELEMENT ? &nodes[node->first] : node;
    if (node->kind == GRAFT_NODE_ELEMENT && operand->element >= 0) {
        (void)snprintf(label->text, sizeof label->text, "%s.%lld%s%s", words + field->word, (long long)operand->element,
                       node->word > 0 ? "." : "", node->word > 0 ? words + node->word : "");
    } else {
        (void)snprintf(label->text, sizeof label->text, "%s", words + field->word);
    }
}

void graft_operand_label(const struct graft_scope *scope, int32_t at, const struct graft_operand *operand,
                         struct graft_label *label) {
    const struct graft_node *node = &scope->expression->nodes[at];
    if (operand != NULL && operand->field >= 0) {
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

struct graft_operand graft_operand_fail(struct graft_scope *scope, int32_t at, const struct graft_operand *operand,
                                        const char *format, ...) {
    struct graft_label label, message;
    va_list arguments;
    if (scope->status == GRAFT_OK) {
        graft_operand_label(scope, at, operand, &label);
        va_start(arguments, format);
        graft_error_write(message.text, sizeof message.text, format, arguments);
        va_end(arguments);
        scope->status =
            graft_error_set(scope->error, GRAFT_ERROR_MODEL, scope->config->file, "%s: %s", label.text, message.text);
    }
    return graft_operand_null();
}

struct graft_operand graft_operand_expected(struct graft_scope *scope, int32_t at, const struct graft_operand *operand,
                                            const char *expected) {
    struct graft_label got;
    if (graft_operand_is_missing(scope, operand)) {
        return graft_operand_fail(scope, at, operand, "missing, expected %s", expected);
    }
    graft_value_describe(&operand->value, &got);
    return graft_operand_fail(scope, at, operand, "expected %s, got %s", expected, got.text);
}
