/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the tensors found fit their parameters, and computes the cost of binding them. */
#include "plan/fit.h"

#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "plan/conflicts.h"

/* Gives a parameter whose length the checkpoint decides the length found. The class described the maximum. */
static void take_length(struct graft_parameter *parameter, const struct graft_value *value) {
    if ((parameter->flags & GRAFT_PARAMETER_ANY_LENGTH) != 0 && value->rank == parameter->rank && value->shape[0] > 0 &&
        value->shape[0] < parameter->shape[0]) {
        parameter->shape[0] = value->shape[0];
    }
}

static int same_shape(const struct graft_parameter *parameter, const struct graft_value *value) {
    int32_t rank = value->rank == 0 && (parameter->flags & GRAFT_PARAMETER_SCALAR) != 0 ? 1 : value->rank;
    return parameter->rank == rank && memcmp(parameter->shape, value->shape, sizeof value->shape) == 0;
}

static int is_weight_type(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 || dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16 ||
           dtype == GRAFT_DTYPE_F8_E8M0;
}

/* Whether kernels need the type widened to f32. */
static int is_widened(const struct graft_parameter *parameter, graft_dtype dtype) {
    return parameter->dtype == GRAFT_DTYPE_NONE && dtype == GRAFT_DTYPE_F8_E8M0;
}

/* Checks a value against its parameter: first for a type that no kernel reads, then for its shape. */
static int check_value(struct graft_binding *binding, struct graft_error *error) {
    char shape[GRAFT_SHAPE_TEXT];
    for (size_t i = 0; i < binding->value.n_parts; i++) {
        const struct graft_tensor_view *tensor = binding->value.parts[i].tensor;
        graft_dtype wanted = binding->parameter->dtype;
        if (wanted != GRAFT_DTYPE_NONE ? tensor->dtype != wanted : !is_weight_type(tensor->dtype)) {
            binding->status = GRAFT_BINDING_FAILED;
            binding->problem = graft_format("%s: type %s, expected %s", tensor->name, graft_dtype_name(tensor->dtype),
                                            wanted != GRAFT_DTYPE_NONE ? graft_dtype_name(wanted) : "F32, F16 or BF16");
            return binding->problem != NULL ? GRAFT_OK : graft_fail_memory(error, tensor->name);
        }
    }
    take_length(binding->parameter, &binding->value);
    if (!same_shape(binding->parameter, &binding->value)) {
        binding->status = GRAFT_BINDING_MISMATCHED;
        binding->problem = graft_format("the checkpoint has the shape %s",
                                        graft_shape_text(binding->value.shape, binding->value.rank, shape));
        return binding->problem != NULL ? GRAFT_OK : graft_fail_memory(error, binding->parameter->name);
    }
    return GRAFT_OK;
}

/* Below this many rows a block, a copy is faster to read than the blocks. */
enum { MIN_BLOCK_ROWS = 16 };

/* Whether the parts are whole rows, aligned to their type, and a single block if the parameter requires one. */
static int can_be_viewed(const struct graft_binding *binding) {
    const struct graft_parameter *parameter = binding->parameter;
    int64_t columns = parameter->rank > 1 ? parameter->shape[parameter->rank - 1] : 1;
    int64_t blocks = 0;
    for (size_t i = 0; i < binding->value.n_parts; i++) {
        const struct graft_part *part = &binding->value.parts[i];
        size_t size = (size_t)graft_dtype_size(part->tensor->dtype);
        int64_t together = graft_box_together(&part->box), count = graft_box_count(&part->box);
        if (is_widened(parameter, part->tensor->dtype) || part->box.at % columns != 0 || together % columns != 0 ||
            (uintptr_t)part->tensor->data % size != 0 || (together < count && together < MIN_BLOCK_ROWS * columns)) {
            return 0;
        }
        blocks += count / together;
    }
    return blocks <= INT32_MAX && (!binding->contiguous || blocks == 1);
}

/* The type of a copy: the sources' type, or f32 if the sources differ or kernels do not read their type. */
static graft_dtype copy_dtype(const struct graft_parameter *parameter, const struct graft_value *value) {
    graft_dtype dtype = value->parts[0].tensor->dtype;
    if (is_widened(parameter, dtype)) {
        return GRAFT_DTYPE_F32;
    }
    for (size_t i = 1; i < value->n_parts; i++) {
        if (value->parts[i].tensor->dtype != dtype) {
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
    for (size_t i = 0; i < value->n_parts; i++) {
        bytes += graft_box_count(&value->parts[i].box) * graft_dtype_size(value->parts[i].tensor->dtype);
    }
    return bytes;
}

/* An earlier binding of the same name, if there is one: an original and its replacement share their bytes. */
static struct graft_binding *twin(const struct graft_plan *plan, const struct graft_binding *binding) {
    for (size_t i = 0; i < plan->n_bindings && &plan->bindings[i] != binding; i++) {
        if (strcmp(plan->bindings[i].parameter->name, binding->parameter->name) == 0) {
            return &plan->bindings[i];
        }
    }
    return NULL;
}

/* Sets the final status: a missing tensor may have an initial value or be optional, a tensor found must fit. */
static int set_status(struct graft_binding *binding, struct graft_error *error) {
    int32_t init = binding->parameter->init;
    if (binding->status == GRAFT_BINDING_MISSING && init != GRAFT_INIT_NONE) {
        binding->status = init == GRAFT_INIT_ABSENT ? GRAFT_BINDING_ABSENT : GRAFT_BINDING_INITIAL;
    }
    return binding->status == GRAFT_BINDING_FOUND ? check_value(binding, error) : GRAFT_OK;
}

static void set_cost(const struct graft_plan *plan, struct graft_binding *binding) {
    if (binding->status == GRAFT_BINDING_FOUND) {
        binding->copied = !can_be_viewed(binding);
        binding->dtype = copy_dtype(binding->parameter, &binding->value);
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

/* The bytes of a view that are in mapped files. */
static int64_t mapped_bytes(const struct graft_binding *binding) {
    int64_t computed = 0;
    for (size_t i = 0; i < binding->value.n_parts && binding->bytes > 0; i++) {
        const struct graft_part *part = &binding->value.parts[i];
        const int is_in_file = part->tensor->computed == NULL && !part->tensor->is_made;
        computed += is_in_file ? 0 : graft_box_count(&part->box) * graft_dtype_size(part->tensor->dtype);
    }
    return binding->bytes - computed;
}

static void forecast(struct graft_plan *plan) {
    int64_t scratch = 0;
    plan->computed_bytes = graft_checkpoint_made_bytes(plan->checkpoint);
    for (size_t i = 0; i < plan->n_computed; i++) {
        const struct graft_computed *computed = plan->computed[i];
        plan->computed_bytes += computed->output_bytes;
        scratch = computed->scratch_bytes > scratch ? computed->scratch_bytes : scratch;
    }
    /* copies are made after the outputs, when scratch memory has been freed */
    int64_t rest = plan->copied_bytes > scratch ? plan->copied_bytes : scratch;
    plan->peak_anonymous_bytes = plan->computed_bytes + rest;
}

int graft_plan_fit(struct graft_plan *plan, struct graft_error *error) {
    int conflicts = graft_conflicts_find(plan, error);
    if (conflicts != GRAFT_OK) {
        return conflicts;
    }
    for (size_t i = 0; i < plan->n_bindings; i++) {
        struct graft_binding *binding = &plan->bindings[i];
        int status = set_status(binding, error);
        if (status != GRAFT_OK) {
            return status;
        }
        set_cost(plan, binding);
        plan->copied_bytes += binding->copied ? binding->bytes : 0;
        plan->mapped_bytes += binding->copied ? 0 : mapped_bytes(binding);
    }
    forecast(plan);
    return GRAFT_OK;
}
