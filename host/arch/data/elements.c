/* SPDX-License-Identifier: Apache-2.0 */
/* Searches arrays of the config, and lists, for a value. */
#include "arch/data/expression_node.h"

/* The type that elements of an array must have if `sought` is searched for; NULL: any. */
static const char *expected_beside(const struct graft_value *sought) {
    switch (sought->kind) {
    case GRAFT_VALUE_BOOL:
        return "a boolean";
    case GRAFT_VALUE_INT:
        return "an integer";
    case GRAFT_VALUE_REAL:
        return "a number";
    case GRAFT_VALUE_TEXT:
        return "a string";
    default:
        return NULL;
    }
}

static int is_as_expected(const struct graft_value *sought, const struct graft_value *element) {
    return sought->kind == GRAFT_VALUE_REAL ? graft_value_is_number(element) : sought->kind == element->kind;
}

static int64_t count_in_list(struct graft_scope *scope, int32_t list, const struct graft_operand *sought) {
    const struct graft_node *nodes = scope->expression->nodes;
    int64_t count = 0;
    for (int32_t at = nodes[list].first; at != -1; at = nodes[at].next) {
        const struct graft_operand element = graft_evaluate_node(scope, at);
        count += graft_values_equal(&element.value, &sought->value);
    }
    return count;
}

/* Checks all elements, so that one of a wrong type is reported even when the value is found before it. */
static int64_t count_in_array(struct graft_scope *scope, int32_t at, const struct graft_operand *array,
                              const struct graft_operand *sought) {
    enum { MOST = 1024 }; /* each layer searches the whole array, and no model has that many layers */
    const struct graft_config *config = scope->config;
    const char *expected = expected_beside(&sought->value);
    struct graft_label path, part;
    graft_operand_path(scope, array, &path);
    int64_t size = config->size(config->data, path.text), count = 0;
    if (size > MOST) {
        (void)graft_operand_fail(scope, at, array,
                                 "expected at most %d elements, since each layer searches them, got %lld", (int)MOST,
                                 (long long)size);
    }
    for (int64_t i = 0; i < size && scope->status == GRAFT_OK; i++) {
        (void)snprintf(part.text, sizeof part.text, "%.*s.%lld", GRAFT_EXPRESSION_MAX, path.text, (long long)i);
        const struct graft_value element = graft_value_read(config, part.text);
        if (expected != NULL && !is_as_expected(&sought->value, &element)) {
            scope->status = graft_config_expected(config, part.text, expected, scope->error);
        }
        count += graft_values_equal(&element, &sought->value);
    }
    return count;
}

int64_t graft_evaluate_count(struct graft_scope *scope, int32_t array, const struct graft_operand *sought) {
    const struct graft_operand operand = graft_evaluate_node(scope, array);
    switch (operand.value.kind) {
    case GRAFT_VALUE_NULL:
        return 0;
    case GRAFT_VALUE_LIST:
        return count_in_list(scope, operand.list, sought);
    case GRAFT_VALUE_ARRAY:
        return count_in_array(scope, array, &operand, sought);
    default:
        (void)graft_operand_expected(scope, array, &operand, "an array");
        return 0;
    }
}
