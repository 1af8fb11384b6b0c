/* SPDX-License-Identifier: Apache-2.0 */
/* lora_B [out, rank] in a layout for few tokens, with the numbers of adjacent outputs side by side, because its rows
 * are too short to be multiplied one by one. */
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
    /* [blocks of outputs, rank, LORA_BLOCK], padded with zeros. One of the two is set: `f32` is factor * lora_B; `bf16`
     * is lora_B unscaled, at lora_bf16_place, for a lora_B in bf16, which cannot represent its products with every
     * factor. Both NULL: there are none. */
    float *f32;
    uint16_t *bf16;
};

/* [load] Allocates columns for `b`, or for a part of it with that many outputs and this rank, filled with zeros; -1 if
 * memory ran out. The caller finishes it, even on failure. */
int lora_columns_init(struct lora_columns *columns, const struct graft_weight *b, int64_t rank, int64_t out_features,
                      float factor);
void lora_columns_finish(struct lora_columns *columns);

/* [load] Sets row `output` of lora_B, whose numbers are `stride` apart. */
void lora_columns_set(struct lora_columns *columns, int64_t output, const float *row, int64_t stride);

/* [any] y [LORA_BLOCK] += the product of narrow [rank] and a block of outputs. */
void lora_add_block(const struct lora_columns *columns, int64_t block, const float *narrow, float *y);

/* Whether columns were allocated. */
static inline int lora_columns_exist(const struct lora_columns *columns) {
    return columns->f32 != NULL || columns->bf16 != NULL;
}

struct lora_magnitude;

/* An addition to a result, once the products with lora_A have been computed. */
struct lora_addition {
    const struct lora_columns *columns;
    const float *narrow;                    /* [tokens, rank] the products with lora_A, of all tokens */
    struct lora_rows rows;                  /* the rows it is added to */
    int64_t first;                          /* first of the outputs that it is added to */
    const struct lora_magnitude *magnitude; /* magnitudes of these outputs, applied to the sum; NULL: none */
};

/* The additions to a module's results. */
struct lora_additions {
    const struct lora_addition *items; /* [n] */
    int32_t n;
    float *y; /* [tokens, out_features] */
    int64_t out_features;
};

/* [any] Adds everything for outputs [begin, end), to each output in the order of the additions. */
void lora_add_outputs(const struct lora_additions *additions, int64_t begin, int64_t end);

/* [forward] The same for all outputs. */
void lora_add(const struct graft_call *call, const struct lora_additions *additions);

#endif
