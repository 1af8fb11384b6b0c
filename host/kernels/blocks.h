/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the rows of a weight, which are in one or several blocks. */
#ifndef GRAFT_KERNELS_BLOCKS_H
#define GRAFT_KERNELS_BLOCKS_H

#include "base/dtype.h"
#include "graft/tensor.h"

/* Consecutive rows in one block. */
struct graft_row_run {
    const void *data; /* [rows, columns of the weight] */
    graft_dtype dtype;
    int64_t rows;
};

/* [any] The longest run that starts at `row` and has at most `rows` rows; rows 0 if the blocks end before. */
static inline struct graft_row_run graft_weight_run(const struct graft_weight *weight, int64_t row, int64_t rows) {
    struct graft_row_run run = {NULL, GRAFT_DTYPE_NONE, 0};
    for (int32_t i = 0; i < weight->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(weight, i);
        if (row < block->rows) {
            int64_t left = block->rows - row;
            run.data = (const char *)block->data + row * weight->columns * graft_dtype_size(block->dtype);
            run.dtype = block->dtype;
            run.rows = left < rows ? left : rows;
            return run;
        }
        row -= block->rows;
    }
    return run;
}

/* [any] The same for elements, in the order of rows: the longest run from number `first` on, of at most `most`. */
static inline struct graft_row_run graft_weight_elements(const struct graft_weight *weight, int64_t first,
                                                         int64_t most) {
    int64_t skipped = first % weight->columns;
    int64_t rows = (skipped + most + weight->columns - 1) / weight->columns;
    struct graft_row_run run = graft_weight_run(weight, first / weight->columns, rows);
    int64_t elements = run.rows * weight->columns - skipped;
    run.data = (const char *)run.data + skipped * graft_dtype_size(run.dtype);
    run.rows = elements < most ? elements : most;
    return run;
}

#endif
