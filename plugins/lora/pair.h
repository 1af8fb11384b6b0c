/* SPDX-License-Identifier: Apache-2.0 */
/* factor * B (A x), the product of low rank (Hu et al. 2021). */
#ifndef LORA_PAIR_H
#define LORA_PAIR_H

#include "add_loops.h"
#include "graft/linear.h"
#include "rows.h"

struct lora_pair {
    const struct graft_module *a; /* a Linear [rank, in] */
    const struct graft_module *b; /* a Linear [out, rank] */
    int64_t rank;
    int64_t out_features;
    float factor;
    const struct lora_add_loops *loops;
    /* [blocks of outputs, rank, LORA_BLOCK] (add_loops.h): factor * lora_B, with zeros behind the last output. One of
     * the two: bf16 where that holds all of them exactly, as it does what is bf16 in the file times a power of two;
     * both NULL: its numbers are not known. */
    float *columns;
    uint16_t *columns_bf16;
};

/* [load] What the class LoraPair has made. */
const struct lora_pair *lora_pair_of(const struct graft_module *module);

/* [load] The products of lora_A and lora_B; 0 when one of them is no product. */
int lora_pair_products(const struct lora_pair *pair, struct graft_product *a, struct graft_product *b);

/* [load] Bytes of a number in these. */
static inline int64_t lora_pair_size(const struct lora_pair *pair) {
    return pair->columns_bf16 != NULL ? (int64_t)sizeof *pair->columns_bf16 : (int64_t)sizeof *pair->columns;
}

/* [forward] For a few tokens a pair is the product of lora_A and, once that has been made into args->y [tokens, rank],
 * an addition to the result. 0 where it is not: then the module's forward is to be called. */
int32_t lora_pair_first(const struct lora_pair *pair, const struct graft_call *call,
                        const struct graft_linear_args *args, struct graft_product *product);

/* The second half. */
struct lora_addition {
    const struct lora_pair *pair;
    const float *narrow;   /* [tokens, rank] of all tokens */
    struct lora_rows rows; /* that it is for */
    int64_t first;         /* of the outputs that it is added to */
};

/* [forward] Adds to y [tokens, out_features]; those of one output in their order. */
void lora_add(const struct graft_call *call, const struct lora_addition *additions, int32_t n, float *y,
              int64_t out_features);

#endif
