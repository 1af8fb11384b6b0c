/* SPDX-License-Identifier: Apache-2.0 */
/* "for": each iteration has a scope of its own, and the variable `loop` describes it. */
#include "jinja/run.h"

/* Keeps the items for which the loop's "if" holds. */
static int choose(struct graft_jinja_run *run, const struct graft_jinja_node *node,
                  const struct graft_jinja_value **items, size_t *n) {
    struct graft_jinja_value *kept = graft_jinja_take_memory(run, *n + 1, sizeof *kept);
    struct graft_jinja_scope *outer = run->scope;
    size_t n_kept = 0;
    int status = kept != NULL ? GRAFT_OK : graft_jinja_failed(run);
    for (size_t i = 0; i < *n && status == GRAFT_OK; i++) {
        struct graft_jinja_value truth;
        status = graft_jinja_push_scope(run, outer);
        if (status == GRAFT_OK) {
            status = graft_jinja_assign_target(run, node->a, &(*items)[i]);
        }
        if (status == GRAFT_OK) {
            status = graft_jinja_evaluate(run, node->c, &truth);
        }
        if (status == GRAFT_OK && graft_jinja_truth(&truth)) {
            kept[n_kept++] = (*items)[i];
        }
        graft_jinja_pop_scope(run, outer);
    }
    *items = kept;
    *n = n_kept;
    return status;
}

/* Counts the enclosing loops, also those outside the current macro. */
static int depth_of_loops(const struct graft_jinja_run *run) {
    static const char name[] = "loop";
    const struct graft_jinja_string loop = {name, NULL, sizeof name - 1};
    struct graft_jinja_value value;
    (void)graft_jinja_lookup(run, &loop, &value);
    return value.kind == GRAFT_JINJA_LOOP ? value.as.loop->depth + 1 : 0;
}

static int turn(struct graft_jinja_run *run, const struct graft_jinja_node *node, struct graft_jinja_loop *loop) {
    static const char name[] = "loop";
    const struct graft_jinja_string loop_name = {name, NULL, sizeof name - 1};
    const struct graft_jinja_value value = {.kind = GRAFT_JINJA_LOOP, .as.loop = loop};
    int status = graft_jinja_assign(run, &loop_name, &value);
    if (status == GRAFT_OK) {
        status = graft_jinja_assign_target(run, node->a, &loop->items[loop->i]);
    }
    return status == GRAFT_OK ? graft_jinja_execute(run, node->list) : status;
}

int graft_jinja_execute_for(struct graft_jinja_run *run, const struct graft_jinja_node *node) {
    struct graft_jinja_value over;
    struct graft_jinja_scope *outer = run->scope;
    struct graft_jinja_loop *loop = graft_jinja_take_memory(run, 1, sizeof *loop);
    int status = loop != NULL ? graft_jinja_evaluate(run, node->b, &over) : graft_jinja_failed(run);
    if (status == GRAFT_OK) {
        status = graft_jinja_walk(run, &over, &loop->items, &loop->n);
    }
    if (status == GRAFT_OK && node->c != NULL) {
        status = choose(run, node, &loop->items, &loop->n);
    }
    if (status == GRAFT_OK && loop->n == 0) {
        return graft_jinja_execute(run, node->otherwise);
    }
    if (status == GRAFT_OK) {
        loop->depth = depth_of_loops(run);
    }
    for (; status == GRAFT_OK && loop->i < loop->n && run->signal != GRAFT_JINJA_BREAKS; loop->i++) {
        run->signal = GRAFT_JINJA_GO_ON;
        run->node = node;
        status = graft_jinja_push_scope(run, outer);
        if (status == GRAFT_OK) {
            status = turn(run, node, loop);
        }
        graft_jinja_pop_scope(run, outer);
    }
    run->signal = GRAFT_JINJA_GO_ON;
    return status;
}
