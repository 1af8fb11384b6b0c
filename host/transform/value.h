/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tensor that is not there yet: a shape, and the runs of elements of mapped tensors that it consists of, in row-major
 * order. Operations rearrange runs; no byte is read.
 */
#ifndef GRAFT_TRANSFORM_VALUE_H
#define GRAFT_TRANSFORM_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/tensor.h"
#include "weights/tensor_view.h"

/* Elements [begin, begin + count) of a mapped tensor. */
struct graft_run {
    const struct graft_tensor_view *tensor;
    int64_t begin;
    int64_t count;
};

struct graft_value {
    int32_t rank;
    int64_t shape[GRAFT_MAX_RANK];
    struct graft_run *runs;
    size_t n_runs;
    size_t capacity;
};

/* The values that one source (or target) pattern stands for: one, or one for each index of its `*`. */
struct graft_value_list {
    struct graft_value *items;
    size_t count;
};

/* [load] All of a mapped tensor. */
int graft_value_of(const struct graft_tensor_view *tensor, struct graft_value *value, struct graft_error *error);

/* [load] A copy. */
int graft_value_copy(const struct graft_value *from, struct graft_value *value, struct graft_error *error);
void graft_value_free(struct graft_value *value);

/* [load] `values` joined along `dim`. Shapes must agree in every other dimension. */
int graft_value_concatenate(const struct graft_value *const *values, size_t n, int64_t dim, const char *name,
                            struct graft_value *joined, struct graft_error *error);

/* [load] `values`, of one shape, stacked along a new dimension `dim`. */
int graft_value_stack(const struct graft_value *const *values, size_t n, int64_t dim, const char *name,
                      struct graft_value *stacked, struct graft_error *error);

/* [load] `value` cut along `dim` into parts of the given sizes, which must add up. */
int graft_value_split(const struct graft_value *value, const int64_t *sizes, size_t n, int64_t dim, const char *name,
                      struct graft_value *parts, struct graft_error *error);

/* [any] Takes away dimension `dim`, whose size is 1. */
void graft_value_squeeze(struct graft_value *value, int64_t dim);

/* [any] "[2, 3]" into `text`; returns `text`. */
enum { GRAFT_SHAPE_TEXT = 24 * GRAFT_MAX_RANK };
const char *graft_shape_text(const int64_t *shape, int32_t rank, char *text);

void graft_value_list_free(struct graft_value_list *list);

#endif
