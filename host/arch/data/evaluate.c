/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates an expression for one config: fields, branches and comparisons. */
#include <string.h>

#include "arch/data/expression_node.h"

static struct graft_operand evaluate_field(const struct graft_scope *scope, int32_t at) {
    const char *path = graft_expression_words(scope->expression) + scope->expression->nodes[at].word;
    return (struct graft_operand){
        .value = graft_value_read(scope->config, path), .field = at, .is_own = 1, .element = -1};
}

/* A letter of a string; null beyond its end, or if the letter is not ASCII. */
static struct graft_operand take_letter(const char *text, int64_t number) {
    static const char letters[] = /* from ' ' to '~', each followed by a NUL */
        " \0!\0\"\0#\0$\0%\0&\0'\0(\0)\0*\0+\0,\0-\0.\0/\0000\0001\0002\0003\0004\0005\0006\0007\0008\0009\0:\0;\0<\0"
        "=\0>\0\?\0@\0A\0B\0C\0D\0E\0F\0G\0H\0I\0J\0K\0L\0M\0N\0O\0P\0Q\0R\0S\0T\0U\0V\0W\0X\0Y\0Z\0[\0\\\0]\0^\0_\0"
        "`\0a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p\0q\0r\0s\0t\0u\0v\0w\0x\0y\0z\0{\0|\0}\0~\0";
    struct graft_operand letter = graft_operand_null();
    if (number < (int64_t)strlen(text) && text[number] >= ' ' && text[number] <= '~') {
        letter.value = (struct graft_value){.kind = GRAFT_VALUE_TEXT, .text = letters + 2 * (text[number] - ' ')};
    }
    return letter;
}

/* Evaluates field[number]. The number is read only if the field is an array or a string or, if a field of the element
 * is asked for, an object, whose members are named by numbers. */
static struct graft_operand evaluate_element(struct graft_scope *scope, int32_t at) {
    const struct graft_node *node = &scope->expression->nodes[at];
    struct graft_operand whole = graft_evaluate_node(scope, node->first);
    struct graft_label path;
    const int goes_on = node->word > 0; /* a field of the element is asked for */
    if (whole.value.kind == GRAFT_VALUE_NULL) {
        return whole;
    }
    if (whole.value.kind != GRAFT_VALUE_ARRAY &&
        whole.value.kind != (goes_on ? GRAFT_VALUE_OBJECT : GRAFT_VALUE_TEXT)) {
        return graft_operand_expected(scope, node->first, &whole, "an array");
    }
    const struct graft_operand number = graft_evaluate_node(scope, node->second);
    if (number.value.kind != GRAFT_VALUE_INT) {
        return graft_operand_expected(scope, node->second, &number, "an integer");
    }
    if (number.value.integer < 0) {
        return graft_operand_fail(scope, node->second, &number, "expected at least 0, got %lld",
                                  (long long)number.value.integer);
    }
    if (whole.value.kind == GRAFT_VALUE_TEXT) {
        return take_letter(whole.value.text, number.value.integer);
    }
    whole.field = at;
    whole.element = number.value.integer;
    graft_operand_path(scope, &whole, &path);
    whole.value = graft_value_read(scope->config, path.text);
    return whole;
}

/* Evaluates a condition: a boolean, or null, which is false. */
static int evaluate_truth(struct graft_scope *scope, int32_t at) {
    const struct graft_operand operand = graft_evaluate_node(scope, at);
    if (operand.value.kind != GRAFT_VALUE_BOOL && operand.value.kind != GRAFT_VALUE_NULL) {
        (void)graft_operand_expected(scope, at, &operand, "a boolean");
    }
    return operand.value.kind == GRAFT_VALUE_BOOL && operand.value.integer != 0;
}

/* Evaluates `??`. Messages about a constant that replaces a field use the field's name. */
static struct graft_operand evaluate_otherwise(struct graft_scope *scope, const struct graft_node *node) {
    const struct graft_operand first = graft_evaluate_node(scope, node->first);
    if (first.value.kind != GRAFT_VALUE_NULL) {
        return first;
    }
    struct graft_operand second = graft_evaluate_node(scope, node->second);
    if (scope->expression->nodes[node->second].kind == GRAFT_NODE_CONSTANT) {
        second.field = first.field;
        second.element = first.element;
    }
    return second;
}

/* Whether `a KIND b` for two numbers. NaN is neither less nor greater than any number. */
static int compare(enum graft_node_kind kind, const struct graft_value *a, const struct graft_value *b) {
    const int are_integers = a->kind == GRAFT_VALUE_INT && b->kind == GRAFT_VALUE_INT;
    const int less = are_integers ? a->integer < b->integer : a->real < b->real;
    const int greater = are_integers ? a->integer > b->integer : a->real > b->real;
    const int equal = graft_values_equal(a, b);
    return kind == GRAFT_NODE_LESS         ? less
           : kind == GRAFT_NODE_LESS_EQUAL ? less || equal
           : kind == GRAFT_NODE_GREATER    ? greater
                                           : greater || equal;
}

/* Evaluates `==` and `!=` of any two values, and `<`, `<=`, `>` and `>=` of two numbers. */
static struct graft_operand evaluate_comparison(struct graft_scope *scope, const struct graft_node *node) {
    const int is_equality = node->kind == GRAFT_NODE_EQUAL || node->kind == GRAFT_NODE_UNEQUAL;
    struct graft_operand (*evaluate)(struct graft_scope *, int32_t) =
        is_equality ? graft_evaluate_node : graft_evaluate_number;
    const struct graft_operand a = evaluate(scope, node->first), b = evaluate(scope, node->second);
    return graft_operand_bool(is_equality ? graft_values_equal(&a.value, &b.value) == (node->kind == GRAFT_NODE_EQUAL)
                                          : compare(node->kind, &a.value, &b.value));
}

/* How often the value of node `sought` is in that of node `array`. */
static int64_t count(struct graft_scope *scope, int32_t sought, int32_t array) {
    const struct graft_operand operand = graft_evaluate_node(scope, sought);
    return graft_evaluate_count(scope, array, &operand);
}

/* Evaluates size(): the number of elements of an array, or of bytes of a string; null for null. */
static struct graft_operand evaluate_size(struct graft_scope *scope, int32_t at) {
    const struct graft_operand operand = graft_evaluate_node(scope, at);
    struct graft_label path;
    switch (operand.value.kind) {
    case GRAFT_VALUE_NULL:
        return operand;
    case GRAFT_VALUE_TEXT:
        return graft_operand_int((int64_t)strlen(operand.value.text));
    case GRAFT_VALUE_ARRAY:
        graft_operand_path(scope, &operand, &path);
        return graft_operand_int(scope->config->size(scope->config->data, path.text));
    default:
        return graft_operand_expected(scope, at, &operand, "an array or a string");
    }
}

static struct graft_operand take_constant(const struct graft_scope *scope, const struct graft_node *node) {
    struct graft_operand operand = graft_operand_null();
    operand.value = node->constant;
    if (node->constant.kind == GRAFT_VALUE_TEXT) {
        operand.value.text = graft_expression_words(scope->expression) + node->word;
    }
    return operand;
}

struct graft_operand graft_evaluate_node(struct graft_scope *scope, int32_t at) {
    const struct graft_node *node = &scope->expression->nodes[at];
    struct graft_operand operand = graft_operand_null();
    if (scope->status != GRAFT_OK) {
        return operand;
    }
    switch (node->kind) {
    case GRAFT_NODE_CONSTANT:
        return take_constant(scope, node);
    case GRAFT_NODE_FIELD:
        return evaluate_field(scope, at);
    case GRAFT_NODE_ELEMENT:
        return evaluate_element(scope, at);
    case GRAFT_NODE_LAYER:
        return scope->layer >= 0 ? graft_operand_int(scope->layer) : operand;
    case GRAFT_NODE_LIST:
        operand.value.kind = GRAFT_VALUE_LIST;
        operand.list = at;
        return operand;
    case GRAFT_NODE_CONDITION:
        return graft_evaluate_node(scope, evaluate_truth(scope, node->first) ? node->second : node->third);
    case GRAFT_NODE_OTHERWISE:
        return evaluate_otherwise(scope, node);
    case GRAFT_NODE_OR:
        return graft_operand_bool(evaluate_truth(scope, node->first) || evaluate_truth(scope, node->second));
    case GRAFT_NODE_AND:
        return graft_operand_bool(evaluate_truth(scope, node->first) && evaluate_truth(scope, node->second));
    case GRAFT_NODE_NOT:
        return graft_operand_bool(!evaluate_truth(scope, node->first));
    case GRAFT_NODE_EQUAL:
    case GRAFT_NODE_UNEQUAL:
    case GRAFT_NODE_LESS:
    case GRAFT_NODE_LESS_EQUAL:
    case GRAFT_NODE_GREATER:
    case GRAFT_NODE_GREATER_EQUAL:
        return evaluate_comparison(scope, node);
    case GRAFT_NODE_IN:
    case GRAFT_NODE_NOT_IN:
        return graft_operand_bool((count(scope, node->first, node->second) > 0) == (node->kind == GRAFT_NODE_IN));
    case GRAFT_NODE_COUNT:
        return graft_operand_int(count(scope, node->second, node->first));
    case GRAFT_NODE_SIZE:
        return evaluate_size(scope, node->first);
    case GRAFT_NODE_IS_ARRAY:
        return graft_operand_bool(graft_evaluate_node(scope, node->first).value.kind == GRAFT_VALUE_ARRAY);
    default:
        return graft_evaluate_arithmetic(scope, at);
    }
}

struct graft_operand graft_evaluate_number(struct graft_scope *scope, int32_t at) {
    const struct graft_operand operand = graft_evaluate_node(scope, at);
    return graft_value_is_number(&operand.value) ? operand : graft_operand_expected(scope, at, &operand, "a number");
}

const char *graft_expression_field(const struct graft_expression *expression, const struct graft_config *config,
                                   int64_t layer) {
    struct graft_scope scope = {.expression = expression, .config = config, .layer = layer};
    const struct graft_operand operand = graft_evaluate_node(&scope, expression->root);
    if (scope.status != GRAFT_OK || operand.field < 0) {
        return NULL;
    }
    const struct graft_node *node = &expression->nodes[operand.field];
    node = node->kind == GRAFT_NODE_ELEMENT ? &expression->nodes[node->first] : node;
    return graft_expression_words(expression) + node->word;
}

int graft_expression_evaluate(const struct graft_expression *expression, const struct graft_config *config,
                              int64_t layer, struct graft_value *value, struct graft_error *error) {
    struct graft_scope scope = {.expression = expression, .config = config, .layer = layer, .error = error};
    struct graft_operand operand = graft_evaluate_node(&scope, expression->root);
    if (operand.value.kind > GRAFT_VALUE_TEXT) {
        operand = graft_operand_expected(&scope, expression->root, &operand, "a number, a string or a boolean");
    }
    *value = scope.status == GRAFT_OK ? operand.value : graft_operand_null().value;
    return scope.status;
}
