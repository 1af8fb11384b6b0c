/* SPDX-License-Identifier: Apache-2.0 */
/* Derives shapes backwards through a chain of operations. */
#include <string.h>

#include "value/operation_run.h"

static int64_t wrap(int64_t dim, int64_t rank) {
    return dim < 0 ? dim + rank : dim;
}

/* Inserts the dimension that SplitModulelist removed; its size is unknown. */
static int32_t insert(int64_t *shape, int32_t rank, int64_t dim) {
    dim = wrap(dim, rank + 1);
    if (rank == GRAFT_MAX_RANK || dim < 0 || dim > rank) {
        return -1;
    }
    for (int64_t i = rank; i > dim; i--) {
        shape[i] = shape[i - 1];
    }
    shape[dim] = -1;
    return rank + 1;
}

static int32_t exchange(int64_t *shape, int32_t rank, const struct graft_operation *operation) {
    int64_t a = wrap(operation->dim, rank), b = wrap(operation->dim1, rank);
    if (operation->check_dims || a < 0 || a >= rank || b < 0 || b >= rank) {
        return operation->check_dims ? rank : -1;
    }
    int64_t size = shape[a];
    shape[a] = shape[b];
    shape[b] = size;
    return rank;
}

/* The size of a dimension before it was sliced, which is known only if the slice states it. */
static int32_t lengthen(int64_t *shape, int32_t rank, const struct graft_operation *operation) {
    int64_t dim = wrap(operation->dim, rank);
    if (dim < 0 || dim >= rank) {
        return -1;
    }
    int known = operation->of > 0 && shape[dim] >= 0 && shape[dim] <= INT64_MAX / operation->of;
    shape[dim] = known ? shape[dim] / operation->length * operation->of : -1;
    return rank;
}

/* The shape before an operation, derived from the shape after it. */
static int32_t before(int64_t *shape, int32_t rank, const struct graft_operation *operation) {
    switch (operation->kind) {
    case GRAFT_OP_SPLIT_MODULELIST:
        return insert(shape, rank, operation->dim);
    case GRAFT_OP_TRANSPOSE:
        return exchange(shape, rank, operation);
    case GRAFT_OP_INTERLEAVE:
    case GRAFT_OP_PERMUTE_FOR_ROPE:
        return rank;
    case GRAFT_OP_CONV3D_TO_LINEAR: /* the input may have been a matrix already: only the rows are certain */
        return rank > 0 ? 1 : -1;
    case GRAFT_OP_SLICE:
        return lengthen(shape, rank, operation);
    case GRAFT_OP_LINEAR_TO_CONV3D:
        for (int32_t i = 2; i < rank; i++) {
            shape[1] *= shape[i];
        }
        return rank == 5 ? 2 : -1;
    default:
        return -1;
    }
}

int32_t graft_operation_target_shape(const struct operation_run *run, int32_t target, int64_t shape[GRAFT_MAX_RANK]) {
    const struct graft_operations *operations = run->operations;
    int32_t rank = operations->target_shape != NULL ? operations->target_shape(operations->data, target, shape) : -1;
    for (int32_t i = operations->count - 1; i > run->index && rank >= 0; i--) {
        rank = before(shape, rank, graft_operations_at(operations, i));
    }
    return rank;
}
