/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_KERNELS_CODED_ROWS_H
#define GRAFT_KERNELS_CODED_ROWS_H

#include "kernels/coded/weight.h"

/* Rows that are stored at even distances. */
struct graft_coded_run {
    struct graft_coded rows;
    int64_t n;
};

/* [any] The run of rows that begins at `row` of a weight, of at most `most` rows. */
struct graft_coded_run graft_coded_run_at(const struct graft_coded_weight *weight, int64_t row, int64_t most);

/* [any] graft_codec.read_rows. */
void graft_coded_read_rows(const struct graft_weight *weight, int64_t first, int64_t n, float *out);

/* [any] The same for rows in storage order: where gate and up are interleaved, their rows alternate. */
void graft_coded_read_stored(const struct graft_coded_weight *weight, int64_t first, int64_t n, float *out);

#endif
