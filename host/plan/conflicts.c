/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/conflicts.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "plan/sources.h"

/* Who took a tensor first: of what is in effect, and of the originals beside it. */
struct taker {
    const struct graft_binding *by[2];
};

static int same_taker(const struct graft_binding *a, const struct graft_binding *b) {
    return a->site == b->site && a->conversion == b->conversion;
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

static int visit_value(const struct graft_plan *plan, struct taker *takers, struct graft_binding *binding,
                       const struct graft_value *value, struct graft_error *error) {
    const struct graft_tensor_view *last = NULL;
    for (size_t i = 0; i < value->n_parts && binding->status == GRAFT_BINDING_FOUND; i++) {
        const struct graft_tensor_view *tensor = value->parts[i].tensor;
        if (tensor == last) {
            continue;
        }
        last = tensor;
        if (tensor->computed != NULL) {
            for (int32_t k = 0; k < tensor->computed->n_inputs; k++) {
                int status = visit_value(plan, takers, binding, &tensor->computed->inputs[k], error);
                if (status != GRAFT_OK) {
                    return status;
                }
            }
            continue;
        }
        size_t number = graft_checkpoint_lower_bound(plan->checkpoint, tensor->name);
        if (plan->sources->converted != NULL && plan->sources->converted[number]) {
            continue; /* cut into several before */
        }
        const struct graft_binding **by = &takers[number].by[binding->parameter->node->below_super != 0];
        if (*by == NULL) {
            *by = binding;
        } else if ((binding->site != NULL || (*by)->site != NULL) && !same_taker(*by, binding)) {
            return report(binding, *by, tensor, error);
        }
    }
    return GRAFT_OK;
}

int graft_conflicts_find(struct graft_plan *plan, struct graft_error *error) {
    int status = GRAFT_OK;
    struct taker *takers = graft_alloc(graft_checkpoint_count(plan->checkpoint) + 1, sizeof *takers);
    if (takers == NULL) {
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < plan->n_bindings && status == GRAFT_OK; i++) {
        struct graft_binding *binding = &plan->bindings[i];
        if (binding->status == GRAFT_BINDING_FOUND && !binding->from_tied) {
            status = visit_value(plan, takers, binding, &binding->value, error);
        }
    }
    graft_free(takers);
    return status;
}
