/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rows of a product, and unpacks rows to numbers. */
#include "kernels/coded/rows.h"

/* Rows of gate and up may be interleaved: rows of the matrix's first half are then stored at even places, those of the
 * second half at odd places. */
struct graft_coded_run graft_coded_run_at(const struct graft_coded_weight *weight, int64_t row, int64_t most) {
    const int64_t turns = weight->codec.by_turns;
    struct graft_coded_run run = {weight->rows, most};
    if (turns == 0) {
        run.rows.first = row;
        return run;
    }
    const int64_t half = turns / 2, in_matrix = row % turns, in_half = in_matrix % half;
    run.rows.first = row - in_matrix + 2 * in_half + in_matrix / half;
    run.rows.step = 2;
    run.n = half - in_half < most ? half - in_half : most;
    return run;
}

void graft_coded_read_rows(const struct graft_weight *weight, int64_t first, int64_t n, float *out) {
    const struct graft_coded_weight *coded = graft_coded_weight_of(weight);
    struct graft_coded_run run;
    for (int64_t row = 0; row < n; row += run.n) {
        run = graft_coded_run_at(coded, first + row, n - row);
        run.rows.loops->widen(&run.rows, 0, run.n, GRAFT_DTYPE_F32, out + row * weight->columns);
    }
}

void graft_coded_read_stored(const struct graft_coded_weight *weight, int64_t first, int64_t n, float *out) {
    struct graft_coded rows = weight->rows;
    rows.first = first;
    rows.loops->widen(&rows, 0, n, GRAFT_DTYPE_F32, out);
}
