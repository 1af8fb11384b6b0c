/* SPDX-License-Identifier: Apache-2.0 */
/* lora_B [out, rank] as a few tokens are multiplied with it: the numbers of neighbouring outputs side by side, since
 * rows so short are not worth multiplying one by one. */
#ifndef LORA_COLUMNS_H
#define LORA_COLUMNS_H

#include "add_loops.h"
#include "graft/call.h"
#include "graft/tensor.h"
#include "rows.h"

struct lora_columns {
    int64_t rank;
    int64_t out_features;
    float factor;
    const struct lora_add_loops *loops;
    /* [blocks of outputs, rank, LORA_BLOCK], with zeros behind the last output. One of the two: factor * lora_B; or,
     * where that is bf16, which does not hold its products with every factor, lora_B as it is, at lora_bf16_place. Both
     * NULL: there are none. */
    float *f32;
    uint16_t *bf16;
};

/* [load] Makes them, of zeros, for `b`, or what of it has so many outputs and this rank; -1 where memory ran out.
 * Whatever comes of it is to be finished. */
int lora_columns_init(struct lora_columns *columns, const struct graft_weight *b, int64_t rank, int64_t out_features,
                      float factor);
void lora_columns_finish(struct lora_columns *columns);

/* [load] Row `output` of lora_B, whose numbers lie `stride` apart. */
void lora_columns_set(struct lora_columns *columns, int64_t output, const float *row, int64_t stride);

/* [any] y [LORA_BLOCK] += the product of narrow [rank] with the outputs of a block. */
void lora_add_block(const struct lora_columns *columns, int64_t block, const float *narrow, float *y);

/* Whether there are any. */
static inline int lora_columns_exist(const struct lora_columns *columns) {
    return columns->f32 != NULL || columns->bf16 != NULL;
}

struct lora_magnitude;

/* What is added to a result once the products with lora_A are there. */
struct lora_addition {
    const struct lora_columns *columns;
    const float *narrow;                    /* [tokens, rank] of all tokens */
    struct lora_rows rows;                  /* that it is for */
    int64_t first;                          /* of the outputs that it is added to */
    const struct lora_magnitude *magnitude; /* of these outputs, applied to the sum; NULL: none */
};

/* Those for a module's results. */
struct lora_additions {
    const struct lora_addition *items; /* [n] */
    int32_t n;
    float *y; /* [tokens, out_features] */
    int64_t out_features;
};

/* [any] Adds what is for outputs [begin, end), to each in the order of the additions. */
void lora_add_outputs(const struct lora_additions *additions, int64_t begin, int64_t end);

/* [forward] The same for all outputs. */
void lora_add(const struct graft_call *call, const struct lora_additions *additions);

#endif
