/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tensor that has not been made yet: a shape, and the parts of mapped tensors that it consists of. Operations
 * rearrange parts without reading a byte.
 */
#ifndef GRAFT_VALUE_VALUE_H
#define GRAFT_VALUE_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/tensor.h"
#include "value/box.h"
#include "weights/tensor_view.h"

/* A box of elements: `at` is its place in the value, in row-major order, `begin` its place in a tensor. */
struct graft_part {
    const struct graft_tensor_view *tensor;
    struct graft_box box;
};

struct graft_value {
    int32_t rank;
    int64_t shape[GRAFT_MAX_RANK]; /* entries from `rank` on are 1 */
    struct graft_part *parts;      /* disjoint, sorted by box.at; they cover all elements */
    size_t n_parts;
    size_t capacity;
};

/* The values that one source (or target) pattern stands for: one, or one for each index of its `*`. */
struct graft_value_list {
    struct graft_value *items;
    size_t count;
};

/* [load] Makes the value of a whole tensor. */
int graft_value_of(const struct graft_tensor_view *tensor, struct graft_value *value, struct graft_error *error);

/* [load] Copies a value. */
int graft_value_copy(const struct graft_value *from, struct graft_value *value, struct graft_error *error);
void graft_value_free(struct graft_value *value);

/* [load] Concatenates `values` along `dim`. Their shapes must agree in every other dimension. */
int graft_value_concatenate(const struct graft_value *const *values, size_t n, int64_t dim, const char *name,
                            struct graft_value *joined, struct graft_error *error);

/* [load] Stacks `values`, which have the same shape, along a new dimension `dim`. */
int graft_value_stack(const struct graft_value *const *values, size_t n, int64_t dim, const char *name,
                      struct graft_value *stacked, struct graft_error *error);

/* [load] Splits `value` along `dim` into parts of the given sizes, which must add up to the dimension's size. */
int graft_value_split(const struct graft_value *value, const int64_t *sizes, size_t n, int64_t dim, const char *name,
                      struct graft_value *parts, struct graft_error *error);

/* [load] Exchanges two dimensions. On failure the value is unchanged or empty. */
int graft_value_transpose(struct graft_value *value, int64_t dim0, int64_t dim1, const char *name,
                          struct graft_error *error);

/* [load] Dimension `dim`, read as [outer, first, second], becomes [outer, second, first]; outer * first * second must
 * be its size. The shape stays. */
int graft_value_exchange(struct graft_value *value, int64_t dim, int64_t first, int64_t second, const char *name,
                         struct graft_error *error);

/* [any] Removes dimension `dim`, whose size is 1. */
void graft_value_squeeze(struct graft_value *value, int64_t dim);

/* [any] Changes the shape to another one with the same number of elements. */
void graft_value_reshape(struct graft_value *value, int32_t rank, const int64_t *shape);

/* [any] The product of the sizes of dimensions [from, to). */
int64_t graft_value_extent(const struct graft_value *value, int64_t from, int64_t to);

/* [any] Writes a shape as "[2, 3]" into `text`, and returns `text`. */
enum { GRAFT_SHAPE_TEXT = 24 * GRAFT_MAX_RANK };
const char *graft_shape_text(const int64_t *shape, int32_t rank, char *text);

void graft_value_list_free(struct graft_value_list *list);

#endif
