/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of W + factor * B A, which are merged, and whose norms DoRA needs. All functions are [load]. */
#ifndef LORA_SUMS_H
#define LORA_SUMS_H

#include "columns.h"
#include "graft/kernels.h"

/* What is added to the rows of a weight, from row `first` on. */
struct lora_delta {
    struct graft_product a; /* lora_A [rank, in] */
    struct graft_product b; /* lora_B [rows, rank] */
    float factor;
    int64_t first;
    const float *scale; /* [rows] factors by which DoRA multiplies the sums, or NULL */
};

/* Whether all of a weight is F32, F16 or BF16; and row `row` of such a weight as f32 [columns]. */
int lora_are_floats(const struct graft_weight *weight);
void lora_read_row(const struct graft_weight *weight, int64_t row, float *out);

/* Reads lora_A [rank, in] transposed, as columns of `in` numbers, from which any row of the sum can be computed. The
 * caller finishes it, even on failure; -1 if memory ran out. */
int lora_delta_open(const struct lora_delta *delta, struct lora_columns *a);

/* Memory for a row of the sum, which the caller frees; NULL if memory ran out. */
float *lora_sum_room(const struct lora_columns *a);

/* Adds row r of the delta, not scaled, to a row of the original at the start of such memory. */
void lora_add_delta(const struct lora_delta *delta, const struct lora_columns *a, int64_t r, float *row);

#endif
