/* SPDX-License-Identifier: Apache-2.0 */
#include "transform/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "transform/convert.h"

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
        const struct graft_tensor_view *tensor = lookup_find(&planner->lookup, parameter->name);
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

/* Tied parameters take each other's weight: whichever of the two is there. */
static void bind_ties(struct graft_plan *plan) {
    for (size_t i = 0; i < plan->n_bindings; i++) {
        struct graft_binding *binding = &plan->bindings[i];
        if (binding->parameter->tied_to == NULL) {
            continue;
        }
        struct graft_binding *source = plan_binding(plan, binding->parameter->tied_to);
        struct graft_binding *lacking = binding->status == GRAFT_BINDING_MISSING ? binding : source;
        struct graft_binding *other = lacking == binding ? source : binding;
        if (lacking->status == GRAFT_BINDING_MISSING && other->status == GRAFT_BINDING_FOUND) {
            lacking->status = GRAFT_BINDING_TIED;
            lacking->tied_to = other;
        }
    }
}

static int same_shape(const struct graft_parameter *parameter, const struct graft_value *value) {
    return parameter->rank == value->rank && memcmp(parameter->shape, value->shape, sizeof value->shape) == 0;
}

static int is_weight_type(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 || dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16;
}

/* Types that no kernel reads become a problem of their own; everything else is settled by the shape. */
static int check_value(struct graft_binding *binding, struct graft_error *error) {
    char shape[GRAFT_SHAPE_TEXT];
    for (size_t i = 0; i < binding->value.n_runs; i++) {
        const struct graft_tensor_view *tensor = binding->value.runs[i].tensor;
        if (!is_weight_type(tensor->dtype)) {
            binding->status = GRAFT_BINDING_FAILED;
            binding->problem = graft_format("%s: type %s, expected F32, F16 or BF16", tensor->name,
                                            graft_dtype_name(tensor->dtype));
            return binding->problem != NULL ? GRAFT_OK : out_of_memory(tensor->name, error);
        }
    }
    if (!same_shape(binding->parameter, &binding->value)) {
        binding->status = GRAFT_BINDING_MISMATCHED;
        binding->problem =
            graft_format("the checkpoint has the shape %s",
                         graft_shape_text(binding->value.shape, binding->value.rank, shape));
        return binding->problem != NULL ? GRAFT_OK : out_of_memory(binding->parameter->name, error);
    }
    return GRAFT_OK;
}

/* Whether the runs are whole rows, aligned to their type, in one block if the parameter wants that. */
static int can_be_viewed(const struct graft_binding *binding) {
    const struct graft_parameter *parameter = binding->parameter;
    int64_t columns = parameter->rank > 1 ? parameter->shape[parameter->rank - 1] : 1;
    if ((parameter->flags & GRAFT_PARAMETER_CONTIGUOUS) != 0 && binding->value.n_runs != 1) {
        return 0;
    }
    for (size_t i = 0; i < binding->value.n_runs; i++) {
        const struct graft_run *run = &binding->value.runs[i];
        size_t size = (size_t)graft_dtype_size(run->tensor->dtype);
        if (run->begin % columns != 0 || run->count % columns != 0 || (uintptr_t)run->tensor->data % size != 0) {
            return 0;
        }
    }
    return 1;
}

/* The type of a copy: that of its sources, or f32 where they differ. */
static graft_dtype copy_dtype(const struct graft_value *value) {
    graft_dtype dtype = value->runs[0].tensor->dtype;
    for (size_t i = 1; i < value->n_runs; i++) {
        if (value->runs[i].tensor->dtype != dtype) {
            return GRAFT_DTYPE_F32;
        }
    }
    return dtype;
}

static int64_t elements(const struct graft_parameter *parameter) {
    int64_t count = 1;
    for (int32_t i = 0; i < parameter->rank; i++) {
        count *= parameter->shape[i];
    }
    return count;
}

static int64_t source_bytes(const struct graft_value *value) {
    int64_t bytes = 0;
    for (size_t i = 0; i < value->n_runs; i++) {
        bytes += value->runs[i].count * graft_dtype_size(value->runs[i].tensor->dtype);
    }
    return bytes;
}

/* The binding of the same name made before, if any: an original beside its replacement shares that one's bytes. */
static struct graft_binding *twin(const struct graft_plan *plan, const struct graft_binding *binding) {
    for (size_t i = 0; i < plan->n_bindings && &plan->bindings[i] != binding; i++) {
        if (strcmp(plan->bindings[i].parameter->name, binding->parameter->name) == 0) {
            return &plan->bindings[i];
        }
    }
    return NULL;
}

/* Third pass: what each binding costs. */
static int settle(struct graft_plan *plan, struct graft_binding *binding, struct graft_error *error) {
    int status = GRAFT_OK;
    if (binding->status == GRAFT_BINDING_MISSING && binding->parameter->init != GRAFT_INIT_NONE) {
        binding->status = GRAFT_BINDING_INITIAL;
    }
    if (binding->status == GRAFT_BINDING_FOUND) {
        status = check_value(binding, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (binding->status == GRAFT_BINDING_FOUND) {
        binding->copied = !can_be_viewed(binding);
        binding->dtype = copy_dtype(&binding->value);
        binding->shared_with = binding->parameter->node->below_super ? twin(plan, binding) : NULL;
        binding->bytes = binding->copied ? elements(binding->parameter) * graft_dtype_size(binding->dtype)
                                         : source_bytes(&binding->value);
    } else if (binding->status == GRAFT_BINDING_INITIAL) {
        binding->copied = 1;
        binding->dtype = GRAFT_DTYPE_F32;
        binding->bytes = elements(binding->parameter) * graft_dtype_size(binding->dtype);
    }
    if (binding->shared_with != NULL && !binding->copied) {
        binding->bytes = 0;
    }
    plan->copied_bytes += binding->copied ? binding->bytes : 0;
    plan->mapped_bytes += binding->copied ? 0 : binding->bytes;
    return GRAFT_OK;
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
    int status = graft_tree_walk(tree, add_bindings, planner, error);
    if (status == GRAFT_OK) {
        status = graft_tree_walk(tree, apply_conversions, planner, error);
    }
    if (status == GRAFT_OK) {
        bind_ties(plan);
    }
    for (size_t i = 0; i < plan->n_bindings && status == GRAFT_OK; i++) {
        status = settle(plan, &plan->bindings[i], error);
    }
    return status == GRAFT_OK ? list_unexpected(planner, error) : status;
}

int graft_plan_make(struct graft_tree *tree, const struct graft_checkpoint *checkpoint, const char *base_model_prefix,
                    struct graft_plan **plan, struct graft_error *error) {
    struct planner planner = {graft_alloc(1, sizeof **plan), {checkpoint, base_model_prefix, NULL}};
    if (planner.plan == NULL) {
        return out_of_memory("", error);
    }
    planner.plan->checkpoint = checkpoint;
    int status = make(&planner, tree, error);
    graft_free(planner.lookup.used);
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
        if (binding->status == GRAFT_BINDING_MISMATCHED || binding->status == GRAFT_BINDING_FAILED) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, binding->parameter->name, "expected %s, but %s",
                                   graft_shape_text(binding->parameter->shape, binding->parameter->rank, shape),
                                   binding->problem);
        }
    }
    return GRAFT_OK;
}
