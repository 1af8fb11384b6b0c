/* SPDX-License-Identifier: Apache-2.0 */
/* An item of attention with many queries, for attention_block.c and the files that multiply for it. */
#ifndef GRAFT_KERNELS_ATTENTION_BLOCK_H
#define GRAFT_KERNELS_ATTENTION_BLOCK_H

#include "kernels/attention.h"

enum { GRAFT_ATTENTION_KEYS = 128 }; /* in one portion */

struct graft_attention_block {
    const struct graft_loops *loops;
    const struct graft_attention_input *input;
    const struct graft_attention_item *item;
    int64_t group;
    int64_t position; /* of the first query */
    int64_t columns;  /* queries * group, rounded up to GRAFT_LANES; column i * group + g is head g of query i */
    float *q;         /* [head_dim, columns], scaled */
    float *scores;    /* [GRAFT_ATTENTION_KEYS, columns] */
    float *out;       /* [v_head_dim, columns], not yet divided by the sum */
    float *maximum;   /* [columns] */
    float *sum;       /* [columns] */
    float *factor;    /* [columns] */
    void *stored;     /* memory of `products`, of graft_attention_stored_bytes bytes */
};

/* Keys or values of the item's head: row j is at data + j * row_stride elements. */
struct graft_attention_rows {
    const void *data;
    int64_t row_stride;
};

/* [any] n rows of `dim` numbers as f32: in place, or widened to `wide` [n, dim]. Contiguous rows are widened in one
 * call, which is faster than one call for each row. */
struct graft_attention_rows graft_attention_rows_as_f32(const struct graft_loops *loops,
                                                        const struct graft_attention_rows *rows, graft_dtype dtype,
                                                        int64_t n, int64_t dim, float *wide);

/* scores = k q and out += v scores, for a portion of `keys` keys or values. */
struct graft_attention_products {
    void (*keys)(const struct graft_attention_block *block, const struct graft_attention_rows *rows, int64_t keys);
    void (*values)(const struct graft_attention_block *block, const struct graft_attention_rows *rows, int64_t keys);
    /* Turns scores into the factors of `values`, like columns_softmax. */
    void (*softmax)(const struct graft_attention_block *block, int64_t keys);
    /* Called once `q` has been filled, and after the last portion; NULL: nothing to do. */
    void (*start)(const struct graft_attention_block *block);
    void (*end)(const struct graft_attention_block *block);
};

/* Multiplies in f32; other stored types are widened. */
extern const struct graft_attention_products graft_attention_in_f32;

/* Multiplies in bf16 with f32 sums, so that queries and probabilities are rounded. For keys and values stored as bf16
 * with an even head_dim, on processors that multiply pairs or tiles of bf16. */
extern const struct graft_attention_products graft_attention_in_pairs;
extern const struct graft_attention_products graft_attention_by_tiles;

/* [any] Chooses the products for an item. */
const struct graft_attention_products *graft_attention_products_of(const struct graft_attention_input *input,
                                                                   const struct graft_attention_item *item);

/* The bytes of `stored` for items with that many columns, for any of the products. */
int64_t graft_attention_stored_bytes(const struct graft_loops *loops, const struct graft_attention_input *input,
                                     int64_t columns);

#endif
