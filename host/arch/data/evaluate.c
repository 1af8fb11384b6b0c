/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates an expression for one config: fields, branches and comparisons. */
#include <string.h>

#include "arch/data/expression_node.h"

static int evaluate_field(const struct graft_scope *scope, int32_t at, struct graft_operand *operand) {
    const char *path = graft_expression_words(scope->expression) + scope->expression->nodes[at].word;
    *operand = graft_operand_null();
    operand->field = at;
    operand->is_own = 1;
    graft_operand_read(scope->config, path, &operand->value);
    return GRAFT_OK;
}

/* Replaces a string by one of its letters; null beyond its end, or if the letter is not ASCII. */
static void take_letter(struct graft_operand *operand, int64_t number) {
    static const char letters[] = /* from ' ' to '~', each followed by a NUL */
        " \0!\0\"\0#\0$\0%\0&\0'\0(\0)\0*\0+\0,\0-\0.\0/\0"
        "0\0"
        "1\0"
        "2\0"
        "3\0"
        "4\0"
        "5\0"
        "6\0"
        "7\0"
        "8\0"
        "9\0:\0;\0<\0=\0>\0\?\0@\0A\0B\0C\0D\0E\0F\0G\0H\0I\0J\0K\0L\0M\0N\0O\0P\0Q\0R\0S\0T\0"
        "U\0V\0W\0X\0Y\0Z\0[\0\\\0]\0^\0_\0`\0a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p\0"
        "q\0r\0s\0t\0u\0v\0w\0x\0y\0z\0{\0|\0}\0~\0";
    const char *text = operand->value.text;
    const int is_letter = number < (int64_t)strlen(text) && text[number] >= ' ' && text[number] <= '~';
    *operand = graft_operand_null();
    if (is_letter) {
        operand->value = (struct graft_value){.kind = GRAFT_VALUE_TEXT, .text = letters + 2 * (text[number] - ' ')};
    }
}

/* Evaluates field[number]. The number is read only if the field is an array or a string or, if a field of the element
 * is asked for, an object, whose members are named by numbers. */
static int evaluate_element(const struct graft_scope *scope, int32_t at, struct graft_operand *operand) {
    const struct graft_node *node = &scope->expression->nodes[at];
    struct graft_operand number;
    struct graft_label path;
    int status = graft_evaluate_node(scope, node->first, operand);
    if (status != GRAFT_OK || operand->value.kind == GRAFT_VALUE_NULL) {
        return status;
    }
    const int goes_on = node->word > 0; /* a field of the element is asked for */
    if (operand->value.kind != GRAFT_VALUE_ARRAY &&
        operand->value.kind != (goes_on ? GRAFT_VALUE_OBJECT : GRAFT_VALUE_TEXT)) {
        return graft_operand_expected(scope, node->first, operand, "an array");
    }
    status = graft_evaluate_node(scope, node->second, &number);
    if (status != GRAFT_OK) {
        return status;
    }
    if (number.value.kind != GRAFT_VALUE_INT) {
        return graft_operand_expected(scope, node->second, &number, "an integer");
    }
    if (number.value.integer < 0) {
        struct graft_label label;
        graft_operand_label(scope, node->second, &number, &label);
        return graft_error_set(scope->error, GRAFT_ERROR_MODEL, scope->config->file,
                               "%s: expected at least 0, got %lld", label.text, (long long)number.value.integer);
    }
    if (operand->value.kind == GRAFT_VALUE_TEXT) {
        take_letter(operand, number.value.integer);
        return GRAFT_OK;
    }
    operand->field = at;
    operand->element = number.value.integer;
    graft_operand_path(scope, operand, &path);
    graft_operand_read(scope->config, path.text, &operand->value);
    return GRAFT_OK;
}

/* Evaluates a condition: a boolean, or null, which is false. */
static int evaluate_truth(const struct graft_scope *scope, int32_t at, int *truth) {
    struct graft_operand operand;
    int status = graft_evaluate_node(scope, at, &operand);
    *truth = status == GRAFT_OK && operand.value.kind == GRAFT_VALUE_BOOL && operand.value.integer != 0;
    return status == GRAFT_OK && operand.value.kind != GRAFT_VALUE_BOOL && operand.value.kind != GRAFT_VALUE_NULL
               ? graft_operand_expected(scope, at, &operand, "a boolean")
               : status;
}

static int evaluate_condition(const struct graft_scope *scope, const struct graft_node *node,
                              struct graft_operand *operand) {
    int truth = 0;
    int status = evaluate_truth(scope, node->first, &truth);
    return status == GRAFT_OK ? graft_evaluate_node(scope, truth ? node->second : node->third, operand) : status;
}

/* Evaluates `??`. Messages about a constant that replaces a field use the field's name. */
static int evaluate_otherwise(const struct graft_scope *scope, const struct graft_node *node,
                              struct graft_operand *operand) {
    int status = graft_evaluate_node(scope, node->first, operand);
    if (status != GRAFT_OK || operand->value.kind != GRAFT_VALUE_NULL) {
        return status;
    }
    const struct graft_operand before = *operand;
    status = graft_evaluate_node(scope, node->second, operand);
    if (status == GRAFT_OK && scope->expression->nodes[node->second].kind == GRAFT_NODE_CONSTANT) {
        operand->field = before.field;
        operand->element = before.element;
    }
    return status;
}

/* Evaluates `and`, which stops at the first false operand, and `or`, which stops at the first true one. */
static int evaluate_logic(const struct graft_scope *scope, const struct graft_node *node,
                          struct graft_operand *operand) {
    int truth = 0, ends = node->kind == GRAFT_NODE_OR;
    int status = evaluate_truth(scope, node->first, &truth);
    if (status == GRAFT_OK && truth != ends) {
        status = evaluate_truth(scope, node->second, &truth);
    }
    *operand = graft_operand_bool(truth);
    return status;
}

static int evaluate_not(const struct graft_scope *scope, const struct graft_node *node, struct graft_operand *operand) {
    int truth = 0;
    int status = evaluate_truth(scope, node->first, &truth);
    *operand = graft_operand_bool(!truth);
    return status;
}

static int evaluate_equality(const struct graft_scope *scope, const struct graft_node *node,
                             struct graft_operand *operand) {
    struct graft_operand a, b;
    int status = graft_evaluate_node(scope, node->first, &a);
    if (status == GRAFT_OK) {
        status = graft_evaluate_node(scope, node->second, &b);
    }
    if (status == GRAFT_OK) {
        *operand = graft_operand_bool(graft_values_equal(&a.value, &b.value) == (node->kind == GRAFT_NODE_EQUAL));
    }
    return status;
}

/* Compares numbers. NaN is neither less nor greater than any number. */
static int compare(enum graft_node_kind kind, const struct graft_value *a, const struct graft_value *b) {
    int are_integers = a->kind == GRAFT_VALUE_INT && b->kind == GRAFT_VALUE_INT;
    int less = are_integers ? a->integer < b->integer : a->real < b->real;
    int greater = are_integers ? a->integer > b->integer : a->real > b->real;
    int equal = graft_values_equal(a, b);
    return kind == GRAFT_NODE_LESS         ? less
           : kind == GRAFT_NODE_LESS_EQUAL ? less || equal
           : kind == GRAFT_NODE_GREATER    ? greater
                                           : greater || equal;
}

static int evaluate_order(const struct graft_scope *scope, const struct graft_node *node,
                          struct graft_operand *operand) {
    struct graft_operand a, b;
    int status = graft_evaluate_number(scope, node->first, &a);
    if (status == GRAFT_OK) {
        status = graft_evaluate_number(scope, node->second, &b);
    }
    if (status == GRAFT_OK) {
        *operand = graft_operand_bool(compare(node->kind, &a.value, &b.value));
    }
    return status;
}

static int evaluate_in(const struct graft_scope *scope, const struct graft_node *node, struct graft_operand *operand) {
    struct graft_operand sought;
    int64_t count = 0;
    int status = graft_evaluate_node(scope, node->first, &sought);
    if (status == GRAFT_OK) {
        status = graft_evaluate_count(scope, node->second, &sought, &count);
    }
    *operand = graft_operand_bool((count > 0) == (node->kind == GRAFT_NODE_IN));
    return status;
}

static int evaluate_count(const struct graft_scope *scope, const struct graft_node *node,
                          struct graft_operand *operand) {
    struct graft_operand sought;
    int64_t count = 0;
    int status = graft_evaluate_node(scope, node->second, &sought);
    if (status == GRAFT_OK) {
        status = graft_evaluate_count(scope, node->first, &sought, &count);
    }
    *operand = graft_operand_int(count);
    return status;
}

static int evaluate_is_array(const struct graft_scope *scope, const struct graft_node *node,
                             struct graft_operand *operand) {
    int status = graft_evaluate_node(scope, node->first, operand);
    *operand = graft_operand_bool(operand->value.kind == GRAFT_VALUE_ARRAY);
    return status;
}

/* Evaluates size(): the number of elements of an array, or of bytes of a string; null for null. */
static int evaluate_size(const struct graft_scope *scope, const struct graft_node *node,
                         struct graft_operand *operand) {
    struct graft_label path;
    int status = graft_evaluate_node(scope, node->first, operand);
    if (status != GRAFT_OK || operand->value.kind == GRAFT_VALUE_NULL) {
        return status;
    }
    if (operand->value.kind == GRAFT_VALUE_TEXT) {
        *operand = graft_operand_int((int64_t)strlen(operand->value.text));
        return GRAFT_OK;
    }
    if (operand->value.kind != GRAFT_VALUE_ARRAY) {
        return graft_operand_expected(scope, node->first, operand, "an array or a string");
    }
    graft_operand_path(scope, operand, &path);
    *operand = graft_operand_int(scope->config->size(scope->config->data, path.text));
    return GRAFT_OK;
}

static void take_constant(const struct graft_scope *scope, const struct graft_node *node,
                          struct graft_operand *operand) {
    *operand = graft_operand_null();
    operand->value = node->constant;
    if (node->constant.kind == GRAFT_VALUE_TEXT) {
        operand->value.text = graft_expression_words(scope->expression) + node->word;
    }
}

int graft_evaluate_node(const struct graft_scope *scope, int32_t at, struct graft_operand *operand) {
    const struct graft_node *node = &scope->expression->nodes[at];
    *operand = graft_operand_null();
    switch (node->kind) {
    case GRAFT_NODE_CONSTANT:
        take_constant(scope, node, operand);
        return GRAFT_OK;
    case GRAFT_NODE_FIELD:
        return evaluate_field(scope, at, operand);
    case GRAFT_NODE_ELEMENT:
        return evaluate_element(scope, at, operand);
    case GRAFT_NODE_LAYER:
        *operand = scope->layer >= 0 ? graft_operand_int(scope->layer) : *operand;
        return GRAFT_OK;
    case GRAFT_NODE_LIST:
        operand->value.kind = GRAFT_VALUE_LIST;
        operand->list = at;
        return GRAFT_OK;
    case GRAFT_NODE_CONDITION:
        return evaluate_condition(scope, node, operand);
    case GRAFT_NODE_OTHERWISE:
        return evaluate_otherwise(scope, node, operand);
    case GRAFT_NODE_OR:
    case GRAFT_NODE_AND:
        return evaluate_logic(scope, node, operand);
    case GRAFT_NODE_NOT:
        return evaluate_not(scope, node, operand);
    case GRAFT_NODE_EQUAL:
    case GRAFT_NODE_UNEQUAL:
        return evaluate_equality(scope, node, operand);
    case GRAFT_NODE_LESS:
    case GRAFT_NODE_LESS_EQUAL:
    case GRAFT_NODE_GREATER:
    case GRAFT_NODE_GREATER_EQUAL:
        return evaluate_order(scope, node, operand);
    case GRAFT_NODE_IN:
    case GRAFT_NODE_NOT_IN:
        return evaluate_in(scope, node, operand);
    case GRAFT_NODE_COUNT:
        return evaluate_count(scope, node, operand);
    case GRAFT_NODE_SIZE:
        return evaluate_size(scope, node, operand);
    case GRAFT_NODE_IS_ARRAY:
        return evaluate_is_array(scope, node, operand);
    default:
        return graft_evaluate_arithmetic(scope, at, operand);
    }
}

int graft_evaluate_number(const struct graft_scope *scope, int32_t at, struct graft_operand *operand) {
    int status = graft_evaluate_node(scope, at, operand);
    return status == GRAFT_OK && !graft_value_is_number(&operand->value)
               ? graft_operand_expected(scope, at, operand, "a number")
               : status;
}

const char *graft_expression_field(const struct graft_expression *expression, const struct graft_config *config,
                                   int64_t layer) {
    const struct graft_scope scope = {.expression = expression, .config = config, .layer = layer};
    struct graft_operand operand;
    if (graft_evaluate_node(&scope, expression->root, &operand) != GRAFT_OK || operand.field < 0) {
        return NULL;
    }
    const struct graft_node *node = &expression->nodes[operand.field];
    node = node->kind == GRAFT_NODE_ELEMENT ? &expression->nodes[node->first] : node;
    return graft_expression_words(expression) + node->word;
}

int graft_expression_evaluate(const struct graft_expression *expression, const struct graft_config *config,
                              int64_t layer, struct graft_value *value, struct graft_error *error) {
    const struct graft_scope scope = {expression, config, layer, error};
    struct graft_operand operand;
    int status = graft_evaluate_node(&scope, expression->root, &operand);
    if (status == GRAFT_OK && operand.value.kind > GRAFT_VALUE_TEXT) {
        status = graft_operand_expected(&scope, expression->root, &operand, "a number, a string or a boolean");
    }
    *value = status == GRAFT_OK ? operand.value : graft_operand_null().value;
    return status;
}
