/* SPDX-License-Identifier: Apache-2.0 */
/* lora_B [out, rank] times its factor, as a few tokens are multiplied with it: the numbers of neighbouring outputs side
 * by side, since rows so short are not worth multiplying one by one. */
#ifndef LORA_COLUMNS_H
#define LORA_COLUMNS_H

#include "add_loops.h"
#include "graft/call.h"
#include "rows.h"

struct lora_columns {
    int64_t rank;
    int64_t out_features;
    const struct lora_add_loops *loops;
    /* [blocks of outputs, rank, LORA_BLOCK] (add_loops.h): factor * lora_B, with zeros behind the last output. One of
     * the two: bf16 where that holds all of them exactly, as it does what is bf16 in the file times a power of two;
     * both NULL: there are none. */
    float *f32;
    uint16_t *bf16;
};

/* [load] Makes them, of zeros, as f32; -1 where memory ran out. Whatever comes of it is to be finished. */
int lora_columns_init(struct lora_columns *columns, int64_t rank, int64_t out_features);
void lora_columns_finish(struct lora_columns *columns);

/* [load] Row `output` of lora_B, whose numbers lie `stride` apart. */
void lora_columns_set(struct lora_columns *columns, int64_t output, const float *row, int64_t stride, float factor);

/* [load] Once all are set: keeps them as bf16 where nothing is lost, since a token reads all of them. -1 where memory
 * ran out. */
int lora_columns_narrow(struct lora_columns *columns);

/* Whether there are any. */
static inline int lora_columns_exist(const struct lora_columns *columns) {
    return columns->f32 != NULL || columns->bf16 != NULL;
}

/* What is added to a result once the products with lora_A are there. */
struct lora_addition {
    const struct lora_columns *columns;
    const float *narrow;   /* [tokens, rank] of all tokens */
    struct lora_rows rows; /* that it is for */
    int64_t first;         /* of the outputs that it is added to */
};

/* [forward] Adds to y [tokens, out_features]; those of one output in their order. */
void lora_add(const struct graft_call *call, const struct lora_addition *additions, int32_t n, float *y,
              int64_t out_features);

#endif
