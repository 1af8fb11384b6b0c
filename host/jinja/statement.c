/* SPDX-License-Identifier: Apache-2.0 */
/* Executes statements. */
#include "jinja/run.h"

int graft_jinja_capture(struct graft_jinja_run *run, const struct graft_jinja_node *list,
                        struct graft_jinja_value *result) {
    struct graft_jinja_builder text = {0};
    struct graft_jinja_builder *outer = run->out;
    struct graft_jinja_scope *scope = run->scope;
    int status = graft_jinja_push_scope(run, scope);
    run->out = &text;
    if (status == GRAFT_OK) {
        status = graft_jinja_execute(run, list);
    }
    run->out = outer;
    graft_jinja_pop_scope(run, scope);
    return graft_jinja_finish_text(run, &text, status, result);
}

static int execute_output(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    struct graft_jinja_value value;
    int status = graft_jinja_evaluate(run, node->a, &value);
    return status == GRAFT_OK ? graft_jinja_add_text(run, run->out, &value) : status;
}

static int execute_if(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    for (;;) {
        struct graft_jinja_value value;
        int status = graft_jinja_evaluate(run, node->a, &value);
        if (status != GRAFT_OK) {
            return status;
        }
        if (graft_jinja_truth(&value)) {
            return graft_jinja_execute(run, node->list);
        }
        const struct graft_jinja_node *otherwise = node->otherwise;
        if (otherwise == NULL || otherwise->kind != GRAFT_JINJA_IF || otherwise->next != NULL) {
            return graft_jinja_execute(run, otherwise);
        }
        node = otherwise;
    }
}

static int execute_set(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    struct graft_jinja_value value;
    int status = graft_jinja_evaluate(run, node->b, &value);
    return status == GRAFT_OK ? graft_jinja_assign_target(run, node->a, &value) : status;
}

static int execute_set_block(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    struct graft_jinja_value value;
    int status = graft_jinja_capture(run, node->list, &value);
    if (status == GRAFT_OK && node->b != NULL) {
        status = graft_jinja_filter_chain(run, node->b, &value, &value);
    }
    return status == GRAFT_OK ? graft_jinja_assign_target(run, node->a, &value) : status;
}

static int make_macro(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                      struct graft_jinja_value *result) {
    struct graft_jinja_macro *macro = graft_jinja_take_memory(run, 1, sizeof *macro);
    if (macro == NULL) {
        return graft_jinja_failed(run);
    }
    *macro = (struct graft_jinja_macro){node, run->scope};
    for (struct graft_jinja_scope *scope = run->scope; scope != NULL && !scope->is_kept; scope = scope->parent) {
        scope->is_kept = 1;
    }
    *result = (struct graft_jinja_value){.kind = GRAFT_JINJA_MACRO, .as.macro = macro};
    return GRAFT_OK;
}

static int execute_macro(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    struct graft_jinja_value macro;
    int status = make_macro(run, node, &macro);
    return status == GRAFT_OK ? graft_jinja_assign(run, &node->name, &macro) : status;
}

static int execute_call_block(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    struct graft_jinja_value caller, value;
    int status = make_macro(run, node, &caller);
    if (status == GRAFT_OK) {
        status = graft_jinja_evaluate_call(run, node->a, &caller, &value);
    }
    return status == GRAFT_OK ? graft_jinja_add_text(run, run->out, &value) : status;
}

static int execute_filter_block(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    struct graft_jinja_value value;
    int status = graft_jinja_capture(run, node->list, &value);
    if (status == GRAFT_OK) {
        status = graft_jinja_filter_chain(run, node->b, &value, &value);
    }
    return status == GRAFT_OK ? graft_jinja_add_text(run, run->out, &value) : status;
}

/* The values are evaluated in the enclosing scope. */
static int execute_with(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    struct graft_jinja_scope *outer = run->scope;
    int status = graft_jinja_push_scope(run, outer);
    struct graft_jinja_scope *inner = run->scope;
    for (const struct graft_jinja_node *one = node->parameters; one != NULL && status == GRAFT_OK; one = one->next) {
        struct graft_jinja_value value;
        run->scope = outer;
        status = graft_jinja_evaluate(run, one->b, &value);
        run->scope = inner;
        if (status == GRAFT_OK) {
            status = graft_jinja_assign_target(run, one->a, &value);
        }
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_execute(run, node->list);
    }
    graft_jinja_pop_scope(run, outer);
    return status;
}

static int execute_scope(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    struct graft_jinja_scope *outer = run->scope;
    int status = graft_jinja_push_scope(run, outer);
    if (status == GRAFT_OK) {
        status = graft_jinja_execute(run, node->list);
    }
    graft_jinja_pop_scope(run, outer);
    return status;
}

static int execute_one(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    switch (node->kind) {
    case GRAFT_JINJA_DATA:
        return graft_jinja_add(run, run->out, &node->name);
    case GRAFT_JINJA_OUTPUT:
        return execute_output(run, node);
    case GRAFT_JINJA_IF:
        return execute_if(run, node);
    case GRAFT_JINJA_FOR:
        return graft_jinja_execute_for(run, node);
    case GRAFT_JINJA_SET:
        return execute_set(run, node);
    case GRAFT_JINJA_SET_BLOCK:
        return execute_set_block(run, node);
    case GRAFT_JINJA_MACRO_OF:
        return execute_macro(run, node);
    case GRAFT_JINJA_CALL_BLOCK:
        return execute_call_block(run, node);
    case GRAFT_JINJA_FILTER_BLOCK:
        return execute_filter_block(run, node);
    case GRAFT_JINJA_WITH:
        return execute_with(run, node);
    case GRAFT_JINJA_SCOPE:
        return execute_scope(run, node);
    default:
        run->signal = node->kind == GRAFT_JINJA_BREAK ? GRAFT_JINJA_BREAKS : GRAFT_JINJA_CONTINUES;
        return GRAFT_OK;
    }
}

int graft_jinja_execute(struct graft_jinja_run *run, const struct graft_jinja_node *list) {
    int status = graft_jinja_descend(run);
    for (const struct graft_jinja_node *node = list;
         node != NULL && status == GRAFT_OK && run->signal == GRAFT_JINJA_GO_ON; node = node->next) {
        run->node = node;
        status = graft_jinja_spend(run, 0);
        if (status == GRAFT_OK) {
            status = execute_one(run, node);
        }
    }
    run->depth--;
    return status;
}
