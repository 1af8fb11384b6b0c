/* SPDX-License-Identifier: Apache-2.0 */
/* Weights, as modules get them: a shape over row blocks. A weight of shape [d0, ..., dn] is read as a matrix of `rows`
 * = d0 * ... * d(n-1) rows of `columns` = dn elements; a vector of n elements as n rows of one. A row block is a
 * contiguous run of such rows in a mapped file, with a type of its own. So sixty stacked experts, or q, k and v joined
 * along dim 0, are views: nothing is copied. A parameter that was declared contiguous has one block. */
#ifndef GRAFT_TENSOR_H
#define GRAFT_TENSOR_H

#include <string.h>

#include "abi.h"
#include "dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_codec;

/* The maximum number of dimensions of a tensor. It is part of the ABI and will not change. */
#define GRAFT_MAX_RANK 8

/* Belongs to the host, like everything else of a weight; valid until the instance that it was given to is destroyed. */
struct graft_row_block {
    uint32_t struct_size;
    graft_dtype dtype; /* type of the elements, which may differ between blocks of a weight */
    const void *data;  /* [rows, columns], row-major, aligned to its element type; read only */
    int64_t rows;      /* rows of this block */
};

/* A parameter, as `create` gets it. */
struct graft_weight {
    uint32_t struct_size;
    int32_t rank;                         /* number of dimensions, 1 to GRAFT_MAX_RANK */
    int64_t shape[GRAFT_MAX_RANK];        /* [rank]; entries from `rank` on are 1 */
    int64_t rows;                         /* product of all dimensions but the last; for a vector its length */
    int64_t columns;                      /* the last dimension; for a vector 1 */
    const struct graft_row_block *blocks; /* [n_blocks] in row order; their rows add up to `rows` */
    int32_t n_blocks;
    uint32_t block_stride;
    /* How the numbers are encoded, if they are codes; then there are no blocks, and only kernels read the weight
     * (codec.h). NULL: the blocks contain the numbers. */
    const struct graft_codec *codec;
};

GRAFT_ASSERT_SIZE(struct graft_row_block, 24);
GRAFT_ASSERT_SIZE(struct graft_weight, 112);

/* [any] Block `i`. */
GRAFT_INLINE const struct graft_row_block *graft_weight_block(const struct graft_weight *weight, int32_t i) {
    return (const struct graft_row_block *)(const void *)((const char *)weight->blocks +
                                                          (size_t)i * weight->block_stride);
}

/* [any] A weight [block->rows, columns] of the numbers of `block`, which must outlive the weight; with one column a
 * vector. */
GRAFT_INLINE struct graft_weight graft_weight_of(const struct graft_row_block *block, int64_t columns) {
    struct graft_weight weight;
    memset(&weight, 0, sizeof weight);
    weight.struct_size = (uint32_t)sizeof weight;
    weight.rank = columns > 1 ? 2 : 1;
    weight.shape[0] = block->rows;
    weight.shape[1] = columns;
    for (int32_t i = 2; i < GRAFT_MAX_RANK; i++) {
        weight.shape[i] = 1;
    }
    weight.rows = block->rows;
    weight.columns = columns;
    weight.blocks = block;
    weight.n_blocks = 1;
    weight.block_stride = (uint32_t)sizeof *block;
    return weight;
}

#ifdef __cplusplus
}
#endif

#endif
