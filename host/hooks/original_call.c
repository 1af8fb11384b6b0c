/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/original_call.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "kernels/cache.h"

static int out_of_memory(const struct graft_hooked_call *hooked, struct graft_error *error) {
    return graft_fail_memory(error, hooked->node->path);
}

/* Makes the pointer that is `field` bytes into `args` point to `target`. */
static void set_pointer(void *args, size_t field, const void *target) {
    memcpy((char *)args + field, &target, sizeof target);
}

static const struct graft_batch *batch_of(const void *args, size_t field) {
    const struct graft_batch *batch;
    memcpy(&batch, (const char *)args + field, sizeof batch);
    return batch;
}

/* Whether the module may overwrite this input, as an activation does whose y is its x. */
static int is_overwritten(const struct graft_hooked_call *hooked, const struct graft_view *view) {
    for (int32_t i = 0; i < hooked->n_views; i++) {
        if (hooked->views[i].direction != GRAFT_VIEW_IN && hooked->views[i].data == view->data) {
            return 1;
        }
    }
    return 0;
}

/* Gives the original a copy of an array that it writes, or that the hooked module overwrites. */
static int copy_view(struct graft_original_call *original, const struct graft_hooked_call *hooked, int32_t i,
                     struct graft_error *error) {
    const struct graft_call *call = hooked->call;
    const struct graft_view *view = &hooked->views[i];
    int64_t bytes = view->rows * view->columns * graft_dtype_size(view->dtype);
    original->outputs[i] = NULL;
    if (view->direction == GRAFT_VIEW_IN && !is_overwritten(hooked, view)) {
        return GRAFT_OK;
    }
    void *copy = call->scratch_alloc(call->scratch, bytes);
    if (copy == NULL) {
        return out_of_memory(hooked, error);
    }
    if (view->direction != GRAFT_VIEW_OUT) {
        memcpy(copy, view->data, (size_t)bytes);
    }
    set_pointer(original->args, view->field, copy);
    original->outputs[i] = view->direction != GRAFT_VIEW_IN ? copy : NULL;
    return GRAFT_OK;
}

/* Gives the original a cache of its own, which borrows the keys of layers outside the original, and follows the batch's
 * when a new sequence starts and when a failed forward is undone. */
static int replace_batch(struct graft_original_call *original, size_t field, struct graft_error *error) {
    struct graft_batch *batch = &original->batch;
    graft_struct_copy(batch, sizeof *batch, batch_of(original->args, field));
    set_pointer(original->args, field, batch);
    int status = GRAFT_OK;
    if (batch->cache == NULL) {
        return GRAFT_OK;
    }
    original->cache->lender = batch->cache;
    batch->cache = original->cache;
    for (int32_t s = 0; s < batch->sequences && status == GRAFT_OK; s++) {
        int64_t first = batch->cu_seqlens[s], reached;
        if (first < batch->cu_seqlens[s + 1]) {
            status = graft_cache_rewind(batch->cache, batch->slots[s], batch->positions[first], &reached, error);
        }
    }
    return status;
}

int graft_original_call_prepare(struct graft_original_call *original, const struct graft_hooked_call *hooked,
                                struct graft_error *error) {
    const struct graft_call *call = hooked->call;
    const struct graft_interface *interface = graft_interface_find(hooked->node->made_by->cls->interface_id);
    size_t size = interface->args_size, batch_field = interface->batch_field;
    original->args = call->scratch_alloc(call->scratch, (int64_t)size);
    if (original->args == NULL) {
        return out_of_memory(hooked, error);
    }
    /* a class that was built with other headers may have made the args */
    graft_struct_copy(original->args, size, hooked->args);
    int status = batch_field > 0 ? replace_batch(original, batch_field, error) : GRAFT_OK;
    for (int32_t i = 0; i < hooked->n_views && status == GRAFT_OK; i++) {
        status = copy_view(original, hooked, i, error);
    }
    return status;
}

int graft_original_call_run(struct graft_original_call *original, const struct graft_hooked_call *hooked,
                            struct graft_error *error) {
    double start = graft_seconds();
    int status = graft_interface_find(hooked->node->made_by->cls->interface_id)
                     ->run(original->module, hooked->call, original->args, error);
    original->seconds = graft_seconds() - start;
    return status;
}

static void add_one(struct graft_difference *found, double value, double reference) {
    double difference = fabs(value - reference);
    int both_nan = isnan(value) && isnan(reference);
    if (both_nan || value == reference) {
        difference = 0.0;
    } else if (isnan(difference)) {
        difference = INFINITY;
    }
    found->difference = fmax(found->difference, difference);
    found->value = fmax(found->value, fabs(reference));
}

void graft_difference_add(struct graft_difference *found, const float *values, const float *reference, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        add_one(found, (double)values[i], (double)reference[i]);
    }
}

double graft_difference_limit(const struct graft_difference *found, double tolerance) {
    return isfinite(found->value) && found->value > 1.0 ? tolerance * found->value : tolerance;
}

static void add_ids(struct graft_difference *found, const int32_t *values, const int32_t *reference, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        add_one(found, values[i], reference[i]);
    }
}

struct graft_difference graft_original_call_compare(const struct graft_original_call *original,
                                                    const struct graft_hooked_call *hooked) {
    struct graft_difference found = {0};
    for (int32_t i = 0; i < hooked->n_views; i++) {
        const struct graft_view *view = &hooked->views[i];
        int64_t count = view->rows * view->columns;
        if (original->outputs[i] != NULL && view->dtype == GRAFT_DTYPE_I32) {
            add_ids(&found, view->data, original->outputs[i], count);
        } else if (original->outputs[i] != NULL) {
            graft_difference_add(&found, view->data, original->outputs[i], count);
        }
    }
    return found;
}
