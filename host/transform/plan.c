/* SPDX-License-Identifier: Apache-2.0 */
#include "transform/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "transform/convert.h"
#include "transform/settle.h"

struct planner {
    struct graft_plan *plan;
    struct lookup lookup;
};

static int out_of_memory(const char *name, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, name, "out of memory");
}

struct graft_binding *plan_binding(const struct graft_plan *plan, const struct graft_parameter *parameter) {
    return &plan->bindings[parameter->index];
}

/* First pass: a binding for each parameter, found under its own name where the checkpoint has that. */
static int add_bindings(void *data, struct graft_node *node, struct graft_error *error) {
    struct planner *planner = data;
    struct graft_plan *plan = planner->plan;
    for (size_t i = 0; i < node->n_parameters; i++) {
        struct graft_parameter *parameter = node->parameters[i];
        struct graft_binding *binding = &plan->bindings[plan->n_bindings];
        parameter->index = plan->n_bindings++;
        binding->parameter = parameter;
        binding->contiguous = (parameter->flags & GRAFT_PARAMETER_CONTIGUOUS) != 0;
        const struct graft_tensor_view *tensor = lookup_find(&planner->lookup, parameter->name, &binding->conversion);
        if (tensor != NULL) {
            int status = graft_value_of(tensor, &binding->value, error);
            if (status != GRAFT_OK) {
                return status;
            }
            lookup_use(&planner->lookup, tensor);
            binding->status = GRAFT_BINDING_FOUND;
        }
    }
    return GRAFT_OK;
}

/* Second pass: the conversions of each module's class. */
static int apply_conversions(void *data, struct graft_node *node, struct graft_error *error) {
    struct planner *planner = data;
    int status = GRAFT_OK;
    if (node->describer == NULL) {
        return GRAFT_OK;
    }
    const struct graft_class *cls = node->describer->cls;
    for (int32_t i = 0; i < cls->n_conversions && status == GRAFT_OK; i++) {
        const char *at = (const char *)cls->conversions + (size_t)i * cls->conversion_stride;
        struct conversion_site site = {planner->plan, node, (const void *)at, &planner->lookup};
        status = conversion_apply(&site, error);
    }
    return status;
}

/* Whether `lacking` has nothing and now takes what `other` has. */
static int tie(struct graft_binding *lacking, struct graft_binding *other) {
    int has = other->status == GRAFT_BINDING_FOUND || other->status == GRAFT_BINDING_TIED;
    if (lacking->status != GRAFT_BINDING_MISSING || !has) {
        return 0;
    }
    lacking->status = GRAFT_BINDING_TIED;
    lacking->tied_to = other->status == GRAFT_BINDING_TIED ? other->tied_to : other;
    lacking->tied_to->contiguous |= lacking->contiguous;
    return 1;
}

/* Tied parameters take each other's weight, whichever of them is there; ties may form chains. */
static void bind_ties(struct graft_plan *plan) {
    int changed = 1;
    while (changed) {
        changed = 0;
        for (size_t i = 0; i < plan->n_bindings; i++) {
            struct graft_binding *binding = &plan->bindings[i];
            if (binding->parameter->tied_to != NULL) {
                struct graft_binding *source = plan_binding(plan, binding->parameter->tied_to);
                changed |= tie(binding, source) || tie(source, binding);
            }
        }
    }
}

/* Old checkpoints store the rotary frequencies, which are computed here: not worth a report. */
static int is_known_buffer(const char *name) {
    static const char suffix[] = "rotary_emb.inv_freq";
    size_t length = strlen(name);
    return length >= sizeof suffix - 1 && strcmp(name + length - (sizeof suffix - 1), suffix) == 0;
}

static int list_unexpected(struct planner *planner, struct graft_error *error) {
    struct graft_plan *plan = planner->plan;
    size_t n = graft_checkpoint_count(plan->checkpoint);
    plan->unexpected = graft_alloc(n + 1, sizeof(struct graft_tensor_view *));
    if (plan->unexpected == NULL) {
        return out_of_memory("", error);
    }
    for (size_t i = 0; i < n; i++) {
        const struct graft_tensor_view *tensor = graft_checkpoint_at(plan->checkpoint, i);
        if (!planner->lookup.used[i] && !is_known_buffer(tensor->name)) {
            plan->unexpected[plan->n_unexpected++] = tensor;
        }
    }
    return GRAFT_OK;
}

static int make(struct planner *planner, struct graft_tree *tree, struct graft_error *error) {
    struct graft_plan *plan = planner->plan;
    plan->bindings = graft_alloc(tree->n_parameters + 1, sizeof *plan->bindings);
    planner->lookup.used = graft_alloc(graft_checkpoint_count(plan->checkpoint) + 1, 1);
    if (plan->bindings == NULL || planner->lookup.used == NULL) {
        return out_of_memory("", error);
    }
    int status = renamings_collect(tree, &planner->lookup.renamings, error);
    if (status == GRAFT_OK) {
        status = graft_tree_walk(tree, add_bindings, planner, error);
    }
    if (status == GRAFT_OK) {
        status = graft_tree_walk(tree, apply_conversions, planner, error);
    }
    if (status == GRAFT_OK) {
        bind_ties(plan);
    }
    if (status == GRAFT_OK) {
        status = plan_settle(plan, error);
    }
    return status == GRAFT_OK ? list_unexpected(planner, error) : status;
}

int graft_plan_make(struct graft_tree *tree, const struct graft_checkpoint *checkpoint, const char *base_model_prefix,
                    struct graft_plan **plan, struct graft_error *error) {
    struct planner planner = {graft_alloc(1, sizeof **plan), {.checkpoint = checkpoint, .prefix = base_model_prefix}};
    if (planner.plan == NULL) {
        return out_of_memory("", error);
    }
    planner.plan->checkpoint = checkpoint;
    int status = make(&planner, tree, error);
    graft_free(planner.lookup.used);
    renamings_free(&planner.lookup.renamings);
    if (status != GRAFT_OK) {
        graft_plan_free(planner.plan);
        return status;
    }
    *plan = planner.plan;
    return GRAFT_OK;
}

void graft_plan_free(struct graft_plan *plan) {
    if (plan != NULL) {
        for (size_t i = 0; i < plan->n_bindings; i++) {
            graft_value_free(&plan->bindings[i].value);
            graft_free(plan->bindings[i].problem);
        }
        graft_free(plan->bindings);
        graft_free(plan->unexpected);
        graft_free(plan);
    }
}

int graft_plan_check(const struct graft_plan *plan, struct graft_error *error) {
    for (size_t i = 0; i < plan->n_bindings; i++) {
        const struct graft_binding *binding = &plan->bindings[i];
        char shape[GRAFT_SHAPE_TEXT];
        if (binding->status == GRAFT_BINDING_MISSING) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, binding->parameter->name,
                                   "missing: the checkpoint has no tensor for this parameter");
        }
        if (binding->status == GRAFT_BINDING_FAILED) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, binding->parameter->name, "%s", binding->problem);
        }
        if (binding->status == GRAFT_BINDING_MISMATCHED) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, binding->parameter->name, "expected %s, but %s",
                                   graft_shape_text(binding->parameter->shape, binding->parameter->rank, shape),
                                   binding->problem);
        }
    }
    return GRAFT_OK;
}
