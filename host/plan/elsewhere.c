/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/elsewhere.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "plan/absent.h"

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

static void add(struct graft_plan *plan, const struct graft_tensor_view *tensor) {
    plan->elsewhere[plan->n_elsewhere++] = tensor;
    plan->elsewhere_bytes += tensor->bytes;
}

/* The tensors of those modules are not unexpected. */
static void move(struct graft_plan *plan, const struct places *places, const struct lookup *lookup) {
    size_t kept = 0;
    for (size_t i = 0; i < plan->n_unexpected; i++) {
        const struct graft_tensor_view *tensor = plan->unexpected[i];
        if (is_elsewhere(places, lookup, tensor->name)) {
            add(plan, tensor);
        } else {
            plan->unexpected[kept++] = tensor;
        }
    }
    plan->n_unexpected = kept;
}

/* Adds up, for each tensor, the elements that a value has of it: at once, or through custom operations. */
static void count_held(const struct graft_plan *plan, const struct graft_value *value, int64_t *held) {
    for (size_t i = 0; i < value->n_parts; i++) {
        const struct graft_part *part = &value->parts[i];
        const struct graft_computed *computed = part->tensor->computed;
        size_t number = computed == NULL ? graft_checkpoint_number(plan->checkpoint, part->tensor) : SIZE_MAX;
        for (int32_t k = 0; computed != NULL && k < computed->n_inputs; k++) {
            count_held(plan, &computed->inputs[k], held);
        }
        if (number != SIZE_MAX) {
            held[number] += graft_box_count(&part->box) * graft_stored_dtype_unit(part->tensor->dtype);
        }
    }
}

/* What Slices have dropped, and no parameter has. */
static int add_dropped(struct graft_plan *plan, struct graft_error *error) {
    size_t n = graft_checkpoint_count(plan->checkpoint);
    int64_t *held = memchr(plan->sliced, 1, n) != NULL ? graft_alloc(n, sizeof *held) : NULL;
    if (memchr(plan->sliced, 1, n) == NULL) {
        return GRAFT_OK;
    }
    if (held == NULL) {
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < plan->n_bindings; i++) {
        count_held(plan, &plan->bindings[i].value, held);
    }
    for (size_t i = 0; i < n; i++) {
        const struct graft_tensor_view *tensor = graft_checkpoint_at(plan->checkpoint, i);
        if (plan->sliced[i] && held[i] == 0) {
            add(plan, tensor);
        } else if (plan->sliced[i] && held[i] < tensor->bytes) {
            plan->elsewhere_bytes += tensor->bytes - held[i];
        }
    }
    graft_free(held);
    return GRAFT_OK;
}

static int by_name(const void *left, const void *right) {
    const struct graft_tensor_view *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

/* Both, in the order of names. */
static int fill(struct graft_plan *plan, const struct places *places, const struct lookup *lookup,
                struct graft_error *error) {
    size_t room = plan->n_unexpected + graft_checkpoint_count(plan->checkpoint);
    plan->elsewhere = graft_alloc(room + 1, sizeof(struct graft_tensor_view *));
    if (plan->elsewhere == NULL) {
        return graft_fail_memory(error, "");
    }
    move(plan, places, lookup);
    int status = add_dropped(plan, error);
    if (plan->n_elsewhere > 0) {
        qsort(plan->elsewhere, plan->n_elsewhere, sizeof *plan->elsewhere, by_name);
    }
    return status;
}

/* For graft_absent_check. */
struct modules {
    const struct places *places;
    const struct lookup *lookup;
};

static int is_of_modules(const void *data, const char *tensor) {
    const struct modules *modules = data;
    return is_elsewhere(modules->places, modules->lookup, tensor);
}

int graft_plan_find_elsewhere(struct graft_plan *plan, const struct lookup *lookup, struct graft_error *error) {
    struct places places = {0};
    int status = graft_tree_walk(plan->tree, collect, &places, error);
    if (status == GRAFT_OK) {
        status = fill(plan, &places, lookup, error);
    }
    if (status == GRAFT_OK) {
        const struct modules modules = {&places, lookup};
        status = graft_absent_check(plan, is_of_modules, &modules, error);
    }
    graft_free(places.nodes);
    return status;
}
