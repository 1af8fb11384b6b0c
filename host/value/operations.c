/* SPDX-License-Identifier: Apache-2.0 */
#include "value/operations.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "value/operation_run.h"

/* The status of a fault: faults of a conversion itself are its author's, all others the checkpoint's. */
static int status_of(enum graft_operation_fault fault) {
    switch (fault) {
    case GRAFT_FAULT_MEMORY:
        return GRAFT_ERROR_INTERNAL;
    case GRAFT_FAULT_NO_OPERATIONS:
    case GRAFT_FAULT_MANY_TO_MANY:
    case GRAFT_FAULT_UNDEFINED_OPERATION:
    case GRAFT_FAULT_NO_SUCH_PARAMETER:
    case GRAFT_FAULT_CUSTOM:
        return GRAFT_ERROR_PLUGIN;
    default:
        return GRAFT_ERROR_MODEL;
    }
}

int graft_operation_failed(const struct operation_run *run, enum graft_operation_fault fault, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (run->fault != NULL && *run->fault == GRAFT_FAULT_NONE) {
        *run->fault = fault;
    }
    return graft_error_set(run->error, status_of(fault), run->operations->place, "%s", message);
}

int graft_operation_no_memory(const struct operation_run *run) {
    return graft_operation_failed(run, GRAFT_FAULT_MEMORY, "out of memory");
}

int64_t graft_operation_dim(const struct operation_run *run, int64_t dim, const struct graft_value *value) {
    char shape[GRAFT_SHAPE_TEXT];
    if (dim >= -(int64_t)value->rank && dim < value->rank) {
        return dim < 0 ? dim + value->rank : dim;
    }
    (void)graft_operation_failed(run, GRAFT_FAULT_DIM_OUT_OF_RANGE, "%s: dimension %lld is outside the shape %s",
                                 graft_operation_name(run->operation->kind), (long long)dim,
                                 graft_shape_text(value->shape, value->rank, shape));
    return -1;
}

/* Runs an operation that changes each value by itself, from `in` to `out`. */
static int run_each(const struct operation_run *run, struct operation_lists *in, struct operation_lists *out) {
    const struct graft_operations *operations = run->operations;
    for (size_t i = 0; i < in->count; i++) {
        for (size_t j = 0; j < in->items[i].count; j++) {
            int status = graft_operation_each(run, in->names[i], &in->items[i].items[j]);
            if (status != GRAFT_OK) {
                return status;
            }
        }
        if (in->count == 1 && operations->n_targets == 1) {
            in->names[i] = operations->targets[0];
        }
    }
    *out = *in;
    *in = (struct operation_lists){0};
    return GRAFT_OK;
}

static int run_one(const struct operation_run *run, struct operation_lists *in, struct operation_lists *out) {
    switch (run->operation->kind) {
    case GRAFT_OP_CONCATENATE:
        return graft_operation_concatenate(run, in, out);
    case GRAFT_OP_CHUNK:
    case GRAFT_OP_SPLIT:
        return graft_operation_cut(run, in, out);
    case GRAFT_OP_MERGE_MODULELIST:
        return graft_operation_merge_modulelist(run, in, out);
    case GRAFT_OP_SPLIT_MODULELIST:
        return graft_operation_split_modulelist(run, in, out);
    case GRAFT_OP_INTERLEAVE:
    case GRAFT_OP_TRANSPOSE:
    case GRAFT_OP_CONV3D_TO_LINEAR:
    case GRAFT_OP_LINEAR_TO_CONV3D:
    case GRAFT_OP_PERMUTE_FOR_ROPE:
    case GRAFT_OP_SLICE:
        return run_each(run, in, out);
    case GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS:
        return graft_operation_fuse_experts(run, in, out);
    case GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS:
        return graft_operation_decouple_experts(run, in, out);
    case GRAFT_OP_CUSTOM:
        return graft_operation_custom(run, in, out);
    default:
        return graft_operation_failed(run, GRAFT_FAULT_UNDEFINED_OPERATION, "there is no operation %d",
                                      (int)run->operation->kind);
    }
}

static int run_all(struct operation_run *run, struct operation_lists *now) {
    const struct graft_operations *operations = run->operations;
    int status = GRAFT_OK;
    for (run->index = 0; run->index < operations->count && status == GRAFT_OK; run->index++) {
        struct operation_lists next = {0};
        run->operation = graft_operations_at(operations, run->index);
        status = run_one(run, now, &next);
        graft_operation_lists_free(now);
        *now = next;
    }
    if (status == GRAFT_OK && now->count != (size_t)operations->n_targets) {
        status = graft_operation_failed(run, GRAFT_FAULT_UNDEFINED_OPERATION,
                                        "the conversion to %s makes %zu values for %d targets", operations->targets[0],
                                        now->count, (int)operations->n_targets);
    }
    return status;
}

int graft_operations_run(const struct graft_operations *operations, struct graft_value_list **lists, size_t *n_lists,
                         enum graft_operation_fault *fault, struct graft_error *error) {
    struct operation_run run = {.operations = operations, .fault = fault, .error = error};
    struct operation_lists now = {*lists, graft_alloc(*n_lists + 1, sizeof *now.names), *n_lists};
    if (fault != NULL) {
        *fault = GRAFT_FAULT_NONE;
    }
    if (now.names == NULL) {
        return graft_operation_no_memory(&run);
    }
    for (size_t i = 0; i < *n_lists; i++) {
        now.names[i] = operations->sources[i];
    }
    int status = run_all(&run, &now);
    graft_free(now.names);
    *lists = now.items;
    *n_lists = now.count;
    return status;
}

/* Whether an operation may have several sources and several targets. */
static int is_many_to_many(const struct graft_operation *operation) {
    return operation->kind == GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS ||
           operation->kind == GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS ||
           operation->kind == GRAFT_OP_CUSTOM;
}

int graft_operations_check(const struct graft_operations *operations, int32_t n_sources,
                           enum graft_operation_fault *fault, struct graft_error *error) {
    const struct operation_run run = {.operations = operations, .fault = fault, .error = error};
    int may_be_many = 0;
    if (fault != NULL) {
        *fault = GRAFT_FAULT_NONE;
    }
    for (int32_t i = 0; i < operations->count; i++) {
        may_be_many |= is_many_to_many(graft_operations_at(operations, i));
    }
    if (n_sources > 1 && operations->n_targets > 1 && !may_be_many) {
        return graft_operation_failed(
            &run, GRAFT_FAULT_MANY_TO_MANY,
            "from %d sources to %d targets: one of the two numbers must be 1, as no operation "
            "here is %s, %s or custom",
            (int)n_sources, (int)operations->n_targets,
            graft_operation_name(GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS),
            graft_operation_name(GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS));
    }
    return operations->count > 0
               ? GRAFT_OK
               : graft_operation_failed(&run, GRAFT_FAULT_NO_OPERATIONS, "a converter needs operations");
}
