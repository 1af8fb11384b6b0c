/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/conflicts.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "plan/sources.h"

struct taker {
    const struct graft_binding *binding;
    size_t before; /* index plus 1 of the tensor's previous taker; 0: none */
};

struct takers {
    size_t *last; /* [tensors]: index plus 1 of the tensor's last taker; 0: none */
    struct taker *items;
    size_t n;
    size_t capacity;
};

/* Whether two takers may share a tensor: pieces that one module cuts for others go to each of them, and adapters may
 * change a tied weight differently in each module. */
static int same_taker(const struct graft_binding *a, const struct graft_binding *b) {
    return (a->from_adapter && b->from_adapter) || (a->site == b->site && a->conversion == b->conversion) ||
           (a->cut_by != NULL && a->cut_by == b->cut_by);
}

/* "the conversion to qkv_proj.weight of "model.layers.0.self_attn"" or "parameter "model.x.weight"". */
static char *taker_text(const struct graft_binding *binding) {
    return binding->site != NULL
               ? graft_format("the conversion to %s of \"%s\"", binding->conversion->targets[0], binding->site->path)
               : graft_format("parameter \"%s\"", binding->parameter->name);
}

static int report(struct graft_binding *binding, const struct graft_binding *first,
                  const struct graft_tensor_view *tensor, struct graft_error *error) {
    char *a = taker_text(first), *b = taker_text(binding);
    char *problem =
        a != NULL && b != NULL ? graft_format("tensor %s is taken twice: by %s and by %s", tensor->name, a, b) : NULL;
    graft_free(a);
    graft_free(b);
    if (problem == NULL) {
        return graft_fail_memory(error, binding->parameter->name);
    }
    binding->status = GRAFT_BINDING_FAILED;
    binding->problem = problem;
    return GRAFT_OK;
}

/* The module of a binding. */
static const struct graft_node *node_of(const struct graft_binding *binding) {
    return binding->site != NULL ? binding->site : binding->parameter->node;
}

static int take(struct takers *takers, struct graft_binding *binding, const struct graft_tensor_view *tensor,
                size_t number, struct graft_error *error) {
    for (size_t at = takers->last[number]; at > 0; at = takers->items[at - 1].before) {
        const struct graft_binding *other = takers->items[at - 1].binding;
        if (same_taker(other, binding)) {
            return GRAFT_OK;
        }
        if ((binding->site != NULL || other->site != NULL) &&
            !graft_nodes_share_tensors(node_of(binding), node_of(other))) {
            return report(binding, other, tensor, error);
        }
    }
    if (graft_grow(&takers->items, &takers->capacity, takers->n, sizeof *takers->items) != 0) {
        return graft_fail_memory(error, binding->parameter->name);
    }
    takers->items[takers->n++] = (struct taker){binding, takers->last[number]};
    takers->last[number] = takers->n;
    return GRAFT_OK;
}

/* The tensor's index among those of the checkpoint and, after them, of the adapters. */
static size_t number_of(const struct graft_plan *plan, const struct graft_tensor_view *tensor) {
    size_t number = 0;
    return plan->adapters != NULL && graft_adapters_find(plan->adapters, tensor->name, &number) == tensor
               ? graft_checkpoint_count(plan->checkpoint) + number
               : graft_checkpoint_lower_bound(plan->checkpoint, tensor->name);
}

static int visit_value(const struct graft_plan *plan, struct takers *takers, struct graft_binding *binding,
                       const struct graft_value *value, struct graft_error *error) {
    const struct graft_tensor_view *last = NULL;
    int status = GRAFT_OK;
    for (size_t i = 0; i < value->n_parts && binding->status == GRAFT_BINDING_FOUND && status == GRAFT_OK; i++) {
        const struct graft_tensor_view *tensor = value->parts[i].tensor;
        if (tensor == last) {
            continue;
        }
        last = tensor;
        if (tensor->computed != NULL) {
            for (int32_t k = 0; k < tensor->computed->n_inputs && status == GRAFT_OK; k++) {
                status = visit_value(plan, takers, binding, &tensor->computed->inputs[k], error);
            }
            continue;
        }
        if (plan->adapters != NULL && graft_adapters_is_shared(tensor->name)) {
            continue;
        }
        size_t number = number_of(plan, tensor);
        if (plan->sources->converted != NULL && number < graft_checkpoint_count(plan->checkpoint) &&
            plan->sources->converted[number]) {
            continue; /* the same taker, which cuts the tensor into several pieces */
        }
        status = take(takers, binding, tensor, number, error);
    }
    return status;
}

int graft_conflicts_find(struct graft_plan *plan, struct graft_error *error) {
    int status = GRAFT_OK;
    size_t n =
        graft_checkpoint_count(plan->checkpoint) + (plan->adapters != NULL ? graft_adapters_count(plan->adapters) : 0);
    struct takers takers = {.last = graft_alloc(n + 1, sizeof *takers.last)};
    if (takers.last == NULL) {
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < plan->n_bindings && status == GRAFT_OK; i++) {
        struct graft_binding *binding = &plan->bindings[i];
        if (binding->status == GRAFT_BINDING_FOUND && !binding->from_tied) {
            status = visit_value(plan, &takers, binding, &binding->value, error);
        }
    }
    graft_free(takers.items);
    graft_free(takers.last);
    return status;
}
