/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what was found fits its parameter, and what it costs to bind it. */
#include "transform/settle.h"

#include <string.h>

#include "base/alloc.h"

static int out_of_memory(const char *name, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, name, "out of memory");
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
            binding->problem =
                graft_format("%s: type %s, expected F32, F16 or BF16", tensor->name, graft_dtype_name(tensor->dtype));
            return binding->problem != NULL ? GRAFT_OK : out_of_memory(tensor->name, error);
        }
    }
    if (!same_shape(binding->parameter, &binding->value)) {
        binding->status = GRAFT_BINDING_MISMATCHED;
        binding->problem = graft_format("the checkpoint has the shape %s",
                                        graft_shape_text(binding->value.shape, binding->value.rank, shape));
        return binding->problem != NULL ? GRAFT_OK : out_of_memory(binding->parameter->name, error);
    }
    return GRAFT_OK;
}

/* Whether the runs are whole rows, aligned to their type, in one block if the parameter wants that. */
static int can_be_viewed(const struct graft_binding *binding) {
    const struct graft_parameter *parameter = binding->parameter;
    int64_t columns = parameter->rank > 1 ? parameter->shape[parameter->rank - 1] : 1;
    if (binding->contiguous && binding->value.n_runs != 1) {
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

/* What the checkpoint lacks may start from a value; what it has must fit. */
static int set_status(struct graft_binding *binding, struct graft_error *error) {
    if (binding->status == GRAFT_BINDING_MISSING && binding->parameter->init != GRAFT_INIT_NONE) {
        binding->status = GRAFT_BINDING_INITIAL;
    }
    return binding->status == GRAFT_BINDING_FOUND ? check_value(binding, error) : GRAFT_OK;
}

static void set_cost(const struct graft_plan *plan, struct graft_binding *binding) {
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
    if (binding->shared_with != NULL && !binding->copied && !binding->shared_with->copied) {
        binding->bytes = 0;
    }
}

int plan_settle(struct graft_plan *plan, struct graft_error *error) {
    for (size_t i = 0; i < plan->n_bindings; i++) {
        struct graft_binding *binding = &plan->bindings[i];
        int status = set_status(binding, error);
        if (status != GRAFT_OK) {
            return status;
        }
        set_cost(plan, binding);
        plan->copied_bytes += binding->copied ? binding->bytes : 0;
        plan->mapped_bytes += binding->copied ? 0 : binding->bytes;
    }
    return GRAFT_OK;
}
