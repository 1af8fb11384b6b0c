/* SPDX-License-Identifier: Apache-2.0 */
/* One item of attention with many queries, as attention_block.c and its ways to multiply see it. */
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
    void *stored;     /* what the way to multiply keeps, graft_attention_stored_bytes */
};

/* Keys or values of the item's head, from one key on: row j is at data + j * row_stride elements. */
struct graft_attention_rows {
    const void *data;
    int64_t row_stride;
};

/* [any] n rows of `dim` numbers as f32: as they lie, or widened to `wide` [n, dim]. Rows that lie one behind the other
 * are widened in one go, which takes less than to begin anew with each. */
struct graft_attention_rows graft_attention_rows_as_f32(const struct graft_loops *loops,
                                                        const struct graft_attention_rows *rows, graft_dtype dtype,
                                                        int64_t n, int64_t dim, float *wide);

/* scores = k q and out += v scores, for a portion of `keys` keys or values. */
struct graft_attention_products {
    void (*keys)(const struct graft_attention_block *block, const struct graft_attention_rows *rows, int64_t keys);
    void (*values)(const struct graft_attention_block *block, const struct graft_attention_rows *rows, int64_t keys);
    /* Turns scores into what `values` multiplies, as columns_softmax does. */
    void (*softmax)(const struct graft_attention_block *block, int64_t keys);
    /* Once `q` is there, and after the last portion; NULL: nothing to do. */
    void (*start)(const struct graft_attention_block *block);
    void (*end)(const struct graft_attention_block *block);
};

/* In f32; stored numbers of another type are widened. */
extern const struct graft_attention_products graft_attention_in_f32;

/* In bf16, with f32 sums: queries and probabilities are rounded. For keys and values stored in bf16, with an even
 * head_dim, on processors that multiply pairs, or tiles of them. */
extern const struct graft_attention_products graft_attention_in_pairs;
extern const struct graft_attention_products graft_attention_by_tiles;

/* [any] Which of the three an item takes. */
const struct graft_attention_products *graft_attention_products_of(const struct graft_attention_input *input,
                                                                   const struct graft_attention_item *item);

/* Bytes of `stored` for items of so many columns, whichever way they are multiplied. */
int64_t graft_attention_stored_bytes(const struct graft_loops *loops, const struct graft_attention_input *input,
                                     int64_t columns);

#endif
