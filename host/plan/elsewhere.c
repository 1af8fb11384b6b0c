/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/elsewhere.h"

#include "base/alloc.h"
#include "base/fail.h"

/* The modules that are elsewhere. */
struct places {
    const struct graft_node **nodes;
    size_t n;
    size_t capacity;
};

static int collect(void *data, struct graft_node *node, struct graft_error *error) {
    struct places *places = data;
    if (!node->is_elsewhere) {
        return GRAFT_OK;
    }
    if (graft_grow(&places->nodes, &places->capacity, places->n, sizeof(struct graft_node *)) != 0) {
        return graft_fail_memory(error, node->path);
    }
    places->nodes[places->n++] = node;
    return GRAFT_OK;
}

static int is_elsewhere(const struct places *places, const struct lookup *lookup, const char *tensor) {
    for (size_t i = 0; i < places->n; i++) {
        if (graft_lookup_is_below(lookup, places->nodes[i]->path, tensor)) {
            return 1;
        }
    }
    return 0;
}

static int move(struct graft_plan *plan, const struct places *places, const struct lookup *lookup,
                struct graft_error *error) {
    size_t kept = 0;
    plan->elsewhere = graft_alloc(plan->n_unexpected + 1, sizeof(struct graft_tensor_view *));
    if (plan->elsewhere == NULL) {
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < plan->n_unexpected; i++) {
        const struct graft_tensor_view *tensor = plan->unexpected[i];
        if (is_elsewhere(places, lookup, tensor->name)) {
            plan->elsewhere[plan->n_elsewhere++] = tensor;
        } else {
            plan->unexpected[kept++] = tensor;
        }
    }
    plan->n_unexpected = kept;
    return GRAFT_OK;
}

static int check_absent(const struct graft_plan *plan, const struct places *places, const struct lookup *lookup,
                        struct graft_error *error) {
    for (size_t i = 0; i < graft_checkpoint_absent_count(plan->checkpoint); i++) {
        const struct graft_absent_file *absent = graft_checkpoint_absent_at(plan->checkpoint, i);
        for (size_t j = 0; j < absent->n_tensors; j++) {
            if (!is_elsewhere(places, lookup, absent->tensors[j])) {
                return graft_checkpoint_fail_absent(plan->checkpoint, absent, absent->tensors[j], error);
            }
        }
    }
    return GRAFT_OK;
}

int graft_plan_find_elsewhere(struct graft_plan *plan, const struct lookup *lookup, struct graft_error *error) {
    struct places places = {0};
    int status = graft_tree_walk(plan->tree, collect, &places, error);
    if (status == GRAFT_OK) {
        status = move(plan, &places, lookup, error);
    }
    if (status == GRAFT_OK) {
        status = check_absent(plan, &places, lookup, error);
    }
    graft_free(places.nodes);
    return status;
}
