/* SPDX-License-Identifier: Apache-2.0 */
/* W + factor * B A, row by row: what is merged, and what the norms of DoRA are of. All is [load]. */
#ifndef LORA_SUMS_H
#define LORA_SUMS_H

#include "columns.h"
#include "graft/kernels.h"

/* What is added to the rows of a weight from `first` on. */
struct lora_delta {
    struct graft_product a; /* lora_A [rank, in] */
    struct graft_product b; /* lora_B [rows, rank] */
    float factor;
    int64_t first;
    const float *scale; /* [rows] that DoRA multiplies the sums by, or NULL */
};

/* Whether all of a weight is F32, F16 or BF16; row `row` of one that is, as f32 [columns]. */
int lora_are_floats(const struct graft_weight *weight);
void lora_read_row(const struct graft_weight *weight, int64_t row, float *out);

/* lora_A [rank, in] as columns, whose outputs are the inputs: all rows of a sum are made of them. To be finished,
 * whatever comes of it; -1 where memory ran out. */
int lora_delta_open(const struct lora_delta *delta, struct lora_columns *a);

/* Room for a row of the sum, to be freed; NULL where memory ran out. */
float *lora_sum_room(const struct lora_columns *a);

/* Makes row r of the sum, not scaled, of the original's: the first numbers of such room. */
void lora_add_delta(const struct lora_delta *delta, const struct lora_columns *a, int64_t r, float *row);

#endif
