/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates expressions. */
#include "jinja/run.h"

static int evaluate_list(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                         struct graft_jinja_value *result) {
    struct graft_jinja_list *list = graft_jinja_new_list(run, node->op ? GRAFT_JINJA_TUPLE : GRAFT_JINJA_PLAIN, 0);
    int status = list != NULL ? GRAFT_OK : graft_jinja_failed(run);
    for (const struct graft_jinja_node *one = node->list; one != NULL && status == GRAFT_OK; one = one->next) {
        struct graft_jinja_value item;
        status = graft_jinja_evaluate(run, one, &item);
        if (status == GRAFT_OK) {
            status = graft_jinja_push(run, list, &item);
        }
    }
    *result = graft_jinja_of_list(list);
    return status;
}

static int evaluate_dict(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                         struct graft_jinja_value *result) {
    struct graft_jinja_dict *dict = graft_jinja_new_dict(run, 0);
    int status = dict != NULL ? GRAFT_OK : graft_jinja_failed(run);
    for (const struct graft_jinja_node *one = node->list; one != NULL && status == GRAFT_OK; one = one->next->next) {
        struct graft_jinja_value key, value;
        status = graft_jinja_evaluate(run, one, &key);
        if (status == GRAFT_OK) {
            status = graft_jinja_evaluate(run, one->next, &value);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_put(run, dict, &key, &value);
        }
    }
    *result = graft_jinja_of_dict(dict);
    return status;
}

static int evaluate_slice(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                          struct graft_jinja_value *result) {
    const struct graft_jinja_node *const nodes[3] = {node->b, node->c, node->d};
    const struct graft_jinja_value *bounds[3] = {NULL, NULL, NULL};
    struct graft_jinja_value self, values[3];
    int status = graft_jinja_evaluate(run, node->a, &self);
    for (int i = 0; i < 3 && status == GRAFT_OK; i++) {
        if (nodes[i] != NULL) {
            status = graft_jinja_evaluate(run, nodes[i], &values[i]);
            bounds[i] = &values[i];
        }
    }
    return status == GRAFT_OK ? graft_jinja_slice(run, &self, bounds, result) : status;
}

static int evaluate_item(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                         struct graft_jinja_value *result) {
    struct graft_jinja_value self, key;
    int status = graft_jinja_evaluate(run, node->a, &self);
    if (status == GRAFT_OK) {
        status = graft_jinja_evaluate(run, node->b, &key);
    }
    return status == GRAFT_OK ? graft_jinja_item(run, &self, &key, result) : status;
}

static int evaluate_attribute(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                              struct graft_jinja_value *result) {
    struct graft_jinja_value self;
    int status = graft_jinja_evaluate(run, node->a, &self);
    return status == GRAFT_OK ? graft_jinja_attribute(run, &self, &node->name, result) : status;
}

static int evaluate_filter(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                           const struct graft_jinja_value *input, struct graft_jinja_value *result) {
    struct graft_jinja_arguments arguments = {0};
    int status = graft_jinja_evaluate_arguments(run, node->list, &arguments);
    return status == GRAFT_OK ? graft_jinja_apply_filter(run, &node->name, input, &arguments, result) : status;
}

int graft_jinja_filter_chain(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                             const struct graft_jinja_value *input, struct graft_jinja_value *result) {
    struct graft_jinja_value inner = *input;
    int status = GRAFT_OK;
    if (node->a != NULL) {
        status = graft_jinja_descend(run);
        status = status == GRAFT_OK ? graft_jinja_filter_chain(run, node->a, input, &inner) : status;
        run->depth--;
    }
    run->node = node;
    return status == GRAFT_OK ? evaluate_filter(run, node, &inner, result) : status;
}

static int evaluate_test(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                         struct graft_jinja_value *result) {
    struct graft_jinja_arguments arguments = {0};
    struct graft_jinja_value input;
    int truth = 0;
    int status = graft_jinja_evaluate(run, node->a, &input);
    if (status == GRAFT_OK) {
        status = graft_jinja_evaluate_arguments(run, node->list, &arguments);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_apply_test(run, &node->name, &input, &arguments, &truth);
    }
    *result = graft_jinja_bool(node->op ? !truth : truth);
    return status;
}

/* "and" and "or" return one of their operands, as in Python. */
static int evaluate_words(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                          struct graft_jinja_value *result) {
    int status = graft_jinja_evaluate(run, node->a, result);
    if (status == GRAFT_OK && graft_jinja_truth(result) == (node->kind == GRAFT_JINJA_AND)) {
        status = graft_jinja_evaluate(run, node->b, result);
    }
    return status;
}

static int evaluate_condition(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                              struct graft_jinja_value *result) {
    int status = graft_jinja_evaluate(run, node->a, result);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_jinja_node *chosen = graft_jinja_truth(result) ? node->b : node->c;
    if (chosen == NULL) {
        *result = graft_jinja_missing("the inline if-expression, which has no else,", NULL);
        return GRAFT_OK;
    }
    return graft_jinja_evaluate(run, chosen, result);
}

static int evaluate_binary(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                           struct graft_jinja_value *result) {
    struct graft_jinja_value a, b;
    int status = graft_jinja_evaluate(run, node->a, &a);
    if (status == GRAFT_OK) {
        status = graft_jinja_evaluate(run, node->b, &b);
    }
    return status == GRAFT_OK ? graft_jinja_binary(run, node->op, &a, &b, result) : status;
}

static int evaluate_unary(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                          struct graft_jinja_value *result) {
    int status = graft_jinja_evaluate(run, node->a, result);
    if (status == GRAFT_OK && node->kind == GRAFT_JINJA_NOT) {
        *result = graft_jinja_bool(!graft_jinja_truth(result));
    } else if (status == GRAFT_OK) {
        const struct graft_jinja_value zero = graft_jinja_int(0);
        status = node->op == GRAFT_JINJA_SUBTRACT ? graft_jinja_negate(run, result, result)
                                                  : graft_jinja_binary(run, GRAFT_JINJA_ADD, &zero, result, result);
    }
    return status;
}

/* "a < b < c" compares neighbours, and stops at the first comparison that is false. */
static int evaluate_compare(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                            struct graft_jinja_value *result) {
    struct graft_jinja_value left;
    int truth = 1;
    int status = graft_jinja_evaluate(run, node->a, &left);
    for (const struct graft_jinja_node *one = node->list; one != NULL && status == GRAFT_OK && truth; one = one->next) {
        struct graft_jinja_value right;
        status = graft_jinja_evaluate(run, one->a, &right);
        if (status == GRAFT_OK) {
            status = graft_jinja_compare(run, one->op, &left, &right, &truth);
        }
        left = right;
    }
    *result = graft_jinja_bool(truth);
    return status;
}

static int evaluate_concat(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                           struct graft_jinja_value *result) {
    struct graft_jinja_builder text = {0};
    int status = GRAFT_OK;
    for (const struct graft_jinja_node *one = node->list; one != NULL && status == GRAFT_OK; one = one->next) {
        struct graft_jinja_value value;
        status = graft_jinja_evaluate(run, one, &value);
        if (status == GRAFT_OK) {
            status = graft_jinja_add_text(run, &text, &value);
        }
    }
    return graft_jinja_finish_text(run, &text, status, result);
}

static int evaluate_kind(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                         struct graft_jinja_value *result) {
    switch (node->kind) {
    case GRAFT_JINJA_CONSTANT:
        *result = node->constant;
        return GRAFT_OK;
    case GRAFT_JINJA_NAME:
        return graft_jinja_lookup(run, &node->name, result);
    case GRAFT_JINJA_LIST_OF:
        return evaluate_list(run, node, result);
    case GRAFT_JINJA_DICT_OF:
        return evaluate_dict(run, node, result);
    case GRAFT_JINJA_ATTRIBUTE:
        return evaluate_attribute(run, node, result);
    case GRAFT_JINJA_ITEM:
        return evaluate_item(run, node, result);
    case GRAFT_JINJA_SLICE:
        return evaluate_slice(run, node, result);
    case GRAFT_JINJA_CALL:
        return graft_jinja_evaluate_call(run, node, NULL, result);
    case GRAFT_JINJA_FILTER: {
        struct graft_jinja_value input;
        int status = graft_jinja_evaluate(run, node->a, &input);
        return status == GRAFT_OK ? evaluate_filter(run, node, &input, result) : status;
    }
    case GRAFT_JINJA_TEST:
        return evaluate_test(run, node, result);
    case GRAFT_JINJA_AND:
    case GRAFT_JINJA_OR:
        return evaluate_words(run, node, result);
    case GRAFT_JINJA_NOT:
    case GRAFT_JINJA_UNARY:
        return evaluate_unary(run, node, result);
    case GRAFT_JINJA_BINARY:
        return evaluate_binary(run, node, result);
    case GRAFT_JINJA_COMPARE:
        return evaluate_compare(run, node, result);
    case GRAFT_JINJA_CONCAT:
        return evaluate_concat(run, node, result);
    default:
        return evaluate_condition(run, node, result);
    }
}

int graft_jinja_evaluate(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                         struct graft_jinja_value *result) {
    const struct graft_jinja_node *outer = run->node;
    run->node = node;
    int status = graft_jinja_descend(run);
    if (status == GRAFT_OK) {
        status = evaluate_kind(run, node, result);
    }
    run->depth--;
    run->node = outer;
    return status;
}
