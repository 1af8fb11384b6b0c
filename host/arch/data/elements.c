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

static int count_in_list(const struct graft_scope *scope, int32_t list, const struct graft_operand *sought,
                         int64_t *count) {
    const struct graft_node *nodes = scope->expression->nodes;
    int status = GRAFT_OK;
    for (int32_t at = nodes[list].first; at != -1 && status == GRAFT_OK; at = nodes[at].next) {
        struct graft_operand element;
        status = graft_evaluate_node(scope, at, &element);
        *count += status == GRAFT_OK && graft_values_equal(&element.value, &sought->value);
    }
    return status;
}

/* Checks all elements, so that one of a wrong type is reported even when the value is found before it. */
static int count_in_array(const struct graft_scope *scope, const struct graft_operand *array,
                          const struct graft_operand *sought, int64_t *count) {
    enum { MOST = 1024 }; /* each layer searches the whole array, and no model has that many layers */
    const struct graft_config *config = scope->config;
    const char *expected = expected_beside(&sought->value);
    struct graft_label path, part;
    graft_operand_path(scope, array, &path);
    int64_t size = config->size(config->data, path.text);
    if (size > MOST) {
        return graft_error_set(scope->error, GRAFT_ERROR_MODEL, config->file,
                               "%s: expected at most %d elements, since each layer searches them, got %lld",
                               graft_config_spelling(config, path.text), (int)MOST, (long long)size);
    }
    for (int64_t i = 0; i < size; i++) {
        struct graft_value element;
        (void)snprintf(part.text, sizeof part.text, "%.*s.%lld", GRAFT_EXPRESSION_MAX, path.text, (long long)i);
        graft_operand_read(config, part.text, &element);
        if (expected != NULL && !is_as_expected(&sought->value, &element)) {
            return graft_config_expected(config, part.text, expected, scope->error);
        }
        *count += graft_values_equal(&element, &sought->value);
    }
    return GRAFT_OK;
}

int graft_evaluate_count(const struct graft_scope *scope, int32_t array, const struct graft_operand *sought,
                         int64_t *count) {
    struct graft_operand operand;
    int status = graft_evaluate_node(scope, array, &operand);
    *count = 0;
    if (status != GRAFT_OK || operand.value.kind == GRAFT_VALUE_NULL) {
        return status;
    }
    if (operand.value.kind == GRAFT_VALUE_LIST) {
        return count_in_list(scope, operand.list, sought, count);
    }
    return operand.value.kind == GRAFT_VALUE_ARRAY ? count_in_array(scope, &operand, sought, count)
                                                   : graft_operand_expected(scope, array, &operand, "an array");
}
