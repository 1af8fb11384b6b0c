/* SPDX-License-Identifier: Apache-2.0 */
#include "bind/bind.h"

#include "base/alloc.h"
#include "bind/copy.h"

struct bound_weight {
    struct graft_weight weight;
    struct graft_row_block *blocks;
    void *copy; /* NULL for views */
};

struct graft_bound {
    struct bound_weight *weights; /* one per binding of the plan */
    size_t count;
};

static int out_of_memory(const struct graft_binding *binding, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, binding->parameter->name, "out of memory: %lld bytes",
                           (long long)binding->bytes);
}

/* The weight's shape as rows of columns, without blocks yet. */
static void set_shape(struct graft_weight *weight, const struct graft_parameter *parameter) {
    *weight = (struct graft_weight){
        .struct_size = sizeof *weight,
        .rank = parameter->rank,
        .rows = 1,
        .columns = parameter->rank > 1 ? parameter->shape[parameter->rank - 1] : 1,
        .block_stride = sizeof(struct graft_row_block),
    };
    for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
        weight->shape[i] = parameter->shape[i];
        weight->rows *= i < parameter->rank - (parameter->rank > 1) ? parameter->shape[i] : 1;
    }
}

static int view(struct bound_weight *bound, const struct graft_binding *binding, struct graft_error *error) {
    bound->blocks = graft_alloc(binding->value.n_runs, sizeof *bound->blocks);
    if (bound->blocks == NULL) {
        return out_of_memory(binding, error);
    }
    for (size_t i = 0; i < binding->value.n_runs; i++) {
        const struct graft_run *run = &binding->value.runs[i];
        int64_t size = graft_dtype_size(run->tensor->dtype);
        bound->blocks[i] = (struct graft_row_block){
            .struct_size = sizeof *bound->blocks,
            .dtype = run->tensor->dtype,
            .data = (const char *)run->tensor->data + run->begin * size,
            .rows = run->count / bound->weight.columns,
        };
    }
    bound->weight.blocks = bound->blocks;
    bound->weight.n_blocks = (int32_t)binding->value.n_runs;
    return GRAFT_OK;
}

static int copy(struct bound_weight *bound, const struct graft_binding *binding, struct graft_error *error) {
    bound->blocks = graft_alloc(1, sizeof *bound->blocks);
    bound->copy = graft_alloc_aligned(64, (size_t)binding->bytes);
    if (bound->blocks == NULL || bound->copy == NULL) {
        return out_of_memory(binding, error);
    }
    if (binding->status == GRAFT_BINDING_INITIAL) {
        fill_f32(bound->copy, binding->bytes / 4, binding->parameter->init == GRAFT_INIT_ONES ? 1.0F : 0.0F);
    } else {
        copy_value(&binding->value, binding->dtype, bound->copy);
    }
    bound->blocks[0] = (struct graft_row_block){
        .struct_size = sizeof *bound->blocks,
        .dtype = binding->dtype,
        .data = bound->copy,
        .rows = bound->weight.rows,
    };
    bound->weight.blocks = bound->blocks;
    bound->weight.n_blocks = 1;
    return GRAFT_OK;
}

static int bind_one(struct bound_weight *bound, struct graft_binding *binding, struct graft_error *error) {
    if (binding->status != GRAFT_BINDING_FOUND && binding->status != GRAFT_BINDING_INITIAL) {
        return GRAFT_OK;
    }
    set_shape(&bound->weight, binding->parameter);
    binding->parameter->weight = &bound->weight;
    return binding->copied ? copy(bound, binding, error) : view(bound, binding, error);
}

int graft_bind(struct graft_plan *plan, struct graft_bound **bound, struct graft_error *error) {
    struct graft_bound *result = graft_alloc(1, sizeof *result);
    int status = GRAFT_OK;
    if (result == NULL || (result->weights = graft_alloc(plan->n_bindings + 1, sizeof *result->weights)) == NULL) {
        graft_bound_free(result);
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "out of memory");
    }
    result->count = plan->n_bindings;
    for (size_t i = 0; i < plan->n_bindings && status == GRAFT_OK; i++) {
        status = bind_one(&result->weights[i], &plan->bindings[i], error);
    }
    for (size_t i = 0; i < plan->n_bindings; i++) {
        struct graft_binding *binding = &plan->bindings[i];
        if (binding->status == GRAFT_BINDING_TIED) {
            binding->parameter->weight = binding->tied_to->parameter->weight;
        }
    }
    if (status != GRAFT_OK) {
        graft_bound_free(result);
        return status;
    }
    *bound = result;
    return GRAFT_OK;
}

void graft_bound_free(struct graft_bound *bound) {
    if (bound != NULL) {
        for (size_t i = 0; i < bound->count; i++) {
            graft_free(bound->weights[i].blocks);
            graft_free(bound->weights[i].copy);
        }
        graft_free(bound->weights);
        graft_free(bound);
    }
}
