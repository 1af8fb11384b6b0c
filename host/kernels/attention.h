/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How attention is divided: an item is a run of queries of one sequence, with all the query heads that share one
 * key/value head, so that keys and values are read once for the group. How items are cut does not depend on the number
 * of threads. Softmax is computed online (Milakov & Gimelshein 2018), over keys in portions.
 */
#ifndef GRAFT_KERNELS_ATTENTION_H
#define GRAFT_KERNELS_ATTENTION_H

#include "graft/kernels.h"
#include "kernels/kv_cache.h"
#include "kernels/loops.h"

/* One sequence of the batch with all its keys. Its query number i is position `past + i`. */
struct graft_attention_sequence {
    struct graft_kv_view view;
    int64_t first_token; /* of this batch */
    int64_t tokens;
    int64_t past; /* keys that were there before this batch */
};

struct graft_attention_item {
    const struct graft_attention_sequence *sequence;
    int64_t kv_head;
    int64_t first; /* query of the sequence */
    int64_t queries;
};

/* Query heads for each key/value head. */
static inline int64_t graft_attention_group(const struct graft_attention_args *args) {
    return args->heads / args->kv_heads;
}

/* The first key that `position` may see. */
static inline int64_t graft_attention_low(const struct graft_mask *mask, int64_t position) {
    return mask->kind == GRAFT_MASK_SLIDING && position >= mask->window ? position - mask->window + 1 : 0;
}

/* The end of the keys that `position` may see; what a dense mask hides is among them. */
static inline int64_t graft_attention_high(const struct graft_mask *mask, int64_t position, int64_t length) {
    return mask->kind == GRAFT_MASK_CAUSAL || mask->kind == GRAFT_MASK_SLIDING ? position + 1 : length;
}

/* For several queries: everything transposed, [.., columns] with a column for each query and head, so that the loops
 * run down the columns. */
int64_t graft_attention_block_queries(const struct graft_attention_args *args);
int64_t graft_attention_block_scratch(const struct graft_attention_args *args);
void graft_attention_block_run(const struct graft_loops *loops, const struct graft_attention_args *args,
                               const struct graft_attention_item *item, float *scratch);

/* For one query: reads keys and values as they lie, once. */
int64_t graft_attention_direct_scratch(const struct graft_attention_args *args);
void graft_attention_direct_run(const struct graft_loops *loops, const struct graft_attention_args *args,
                                const struct graft_attention_item *item, float *scratch);

#endif
