/* SPDX-License-Identifier: Apache-2.0 */
/* Weights that are made one portion at a time for a product of many tokens, in the layout of the product's loops:
 * transposed, with the elements of one input side by side for several outputs. A packed weight then need not be
 * unpacked to rows first and transposed afterwards (graft_linear_transposed). */
#ifndef GRAFT_KERNELS_TRANSPOSED_H
#define GRAFT_KERNELS_TRANSPOSED_H

#include "graft/abi.h"

enum {
    GRAFT_TRANSPOSED_F32 = 0,  /* [rows / width, columns, width] f32 */
    GRAFT_TRANSPOSED_BF16 = 1, /* the same, each number rounded to bf16 and widened again */
    /* [rows / width, columns / 2, width] pairs of bf16, the even column in the lower half */
    GRAFT_TRANSPOSED_PAIRS = 2
};

/* The rows and columns of a transposed weight are multiples of these. */
enum { GRAFT_TRANSPOSED_ROWS = 64, GRAFT_TRANSPOSED_COLUMNS = 8 };

/* A portion to fill in: columns [column, column + columns) of rows [row, row + rows). */
struct graft_transposed_portion {
    uint32_t struct_size;
    int32_t layout;  /* GRAFT_TRANSPOSED_... */
    int64_t row;     /* a multiple of GRAFT_TRANSPOSED_ROWS */
    int64_t rows;    /* likewise */
    int64_t column;  /* a multiple of GRAFT_TRANSPOSED_COLUMNS */
    int64_t columns; /* likewise */
    int64_t width;   /* outputs side by side: 16, 32 or 64 */
    void *out;       /* in the given layout; aligned to 64 bytes */
};

/* The source of a weight. It belongs to the caller, and must live until the product is done, like what it points to. */
struct graft_transposed_source {
    uint32_t struct_size;
    uint32_t layouts;   /* a bit 1 << GRAFT_TRANSPOSED_... for each layout that `write` can fill in */
    const void *weight; /* for `write` */
    /* [any] Fills in a portion. Called by several threads at once, from inside a parallel loop. */
    void (*write)(const void *weight, const struct graft_transposed_portion *portion);
};

GRAFT_ASSERT_SIZE(struct graft_transposed_portion, 56);
GRAFT_ASSERT_SIZE(struct graft_transposed_source, 24);

#endif
