/* SPDX-License-Identifier: Apache-2.0 */
#include "bind/bind.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/fail.h"
#include "bind/compute.h"
#include "bind/copy.h"
#include "bind/view.h"
#include "graft/host/process.h"

struct bound_weight {
    struct graft_weight weight;
    struct graft_row_block *blocks;
    void *copy; /* the copied elements; NULL where the weight is a view */
};

struct graft_bound {
    struct bound_weight *weights; /* one for each binding of the plan */
    size_t count;
    void **outputs; /* outputs of custom operations */
    size_t n_outputs;
};

static int out_of_memory(const struct graft_binding *binding, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, binding->parameter->name, "out of memory: %lld bytes",
                           (long long)binding->bytes);
}

/* Sets the weight's shape as rows and columns, without blocks yet. */
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
    int64_t n = 0;
    for (size_t i = 0; i < binding->value.n_parts; i++) {
        const struct graft_box *box = &binding->value.parts[i].box;
        n += graft_box_count(box) / graft_box_together(box);
    }
    bound->blocks = graft_alloc((size_t)n, sizeof *bound->blocks);
    if (bound->blocks == NULL ||
        graft_view_blocks(&binding->value, bound->weight.columns, bound->blocks, (size_t)n) != 0) {
        return out_of_memory(binding, error);
    }
    bound->weight.blocks = bound->blocks;
    bound->weight.n_blocks = (int32_t)n;
    return GRAFT_OK;
}

static int copy(struct bound_weight *bound, const struct graft_binding *binding, struct graft_error *error) {
    bound->blocks = graft_alloc(1, sizeof *bound->blocks);
    bound->copy = graft_alloc_aligned(64, (size_t)binding->bytes);
    if (bound->blocks == NULL || bound->copy == NULL) {
        return out_of_memory(binding, error);
    }
    if (binding->status == GRAFT_BINDING_INITIAL) {
        graft_fill_f32(bound->copy, binding->bytes / 4, binding->parameter->init == GRAFT_INIT_ONES ? 1.0F : 0.0F);
    } else {
        graft_copy_value(&binding->value, binding->dtype, bound->copy);
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

/* Drops the mapped pages of copied values: otherwise a process that needs some columns of a tensor would keep all of it
 * in memory. */
static void drop_pages(const struct graft_plan *plan, const struct graft_value *value) {
    for (size_t i = 0; i < value->n_parts; i++) {
        if (graft_checkpoint_number(plan->checkpoint, value->parts[i].tensor) != SIZE_MAX) {
            graft_checkpoint_drop_pages(value->parts[i].tensor);
        }
    }
}

static int bind_one(const struct graft_plan *plan, struct bound_weight *bound, struct graft_binding *binding,
                    struct graft_error *error) {
    if (binding->status != GRAFT_BINDING_FOUND && binding->status != GRAFT_BINDING_INITIAL) {
        return GRAFT_OK;
    }
    set_shape(&bound->weight, binding->parameter);
    binding->parameter->weight = &bound->weight;
    int status = binding->copied ? copy(bound, binding, error) : view(bound, binding, error);
    if (status == GRAFT_OK && binding->copied) {
        drop_pages(plan, &binding->value);
    }
    return status;
}

/* The bytes that loading produces: copies, and outputs of custom operations. */
struct work {
    int64_t done;
    int64_t total;
};

static struct work count_work(const struct graft_plan *plan) {
    struct work work = {0, 0};
    for (size_t i = 0; i < plan->n_bindings; i++) {
        work.total += plan->bindings[i].copied ? plan->bindings[i].bytes : 0;
    }
    for (size_t i = 0; i < plan->n_computed; i++) {
        for (int32_t k = 0; k < plan->computed[i]->n_outputs; k++) {
            work.total += plan->computed[i]->outputs[k].bytes;
        }
    }
    return work;
}

static void add_work(struct work *work, int64_t bytes) {
    work->done += bytes;
    if (bytes > 0) {
        graft_context_tell(GRAFT_PROGRESS_LOAD, work->done, work->total);
    }
}

/* Runs the custom operations in the plan's order, since one may read what another made. */
static int compute_all(struct graft_bound *bound, const struct graft_plan *plan, struct work *work,
                       struct graft_error *error) {
    size_t n = 0;
    int status = GRAFT_OK;
    for (size_t i = 0; i < plan->n_computed; i++) {
        n += (size_t)plan->computed[i]->n_outputs;
    }
    bound->outputs = graft_alloc(n + 1, sizeof *bound->outputs);
    if (bound->outputs == NULL) {
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < plan->n_computed && status == GRAFT_OK; i++) {
        struct graft_computed *computed = plan->computed[i];
        int64_t bytes = 0;
        for (int32_t k = 0; k < computed->n_outputs && status == GRAFT_OK; k++) {
            void *buffer = graft_alloc_aligned(64, (size_t)computed->outputs[k].bytes);
            bound->outputs[bound->n_outputs++] = buffer;
            computed->outputs[k].data = buffer;
            bytes += computed->outputs[k].bytes;
            status = buffer != NULL ? GRAFT_OK : graft_fail_memory(error, computed->place);
        }
        status = status == GRAFT_OK ? graft_compute(computed, error) : status;
        add_work(work, bytes);
    }
    return status;
}

int graft_bind(struct graft_plan *plan, struct graft_bound **bound, struct graft_error *error) {
    struct graft_bound *result = graft_alloc(1, sizeof *result);
    int status = GRAFT_OK;
    if (result == NULL || (result->weights = graft_alloc(plan->n_bindings + 1, sizeof *result->weights)) == NULL) {
        graft_bound_free(result);
        return graft_fail_memory(error, "");
    }
    struct work work = count_work(plan);
    result->count = plan->n_bindings;
    status = compute_all(result, plan, &work, error);
    for (size_t i = 0; i < plan->n_bindings && status == GRAFT_OK; i++) {
        status = bind_one(plan, &result->weights[i], &plan->bindings[i], error);
        add_work(&work, plan->bindings[i].copied ? plan->bindings[i].bytes : 0);
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
        for (size_t i = 0; i < bound->n_outputs; i++) {
            graft_free(bound->outputs[i]);
        }
        graft_free(bound->outputs);
        graft_free(bound->weights);
        graft_free(bound);
    }
}
