/* SPDX-License-Identifier: Apache-2.0 */
/* The host's attention implementations, and what they share. */
#ifndef GRAFT_KERNELS_ATTENTION_H
#define GRAFT_KERNELS_ATTENTION_H

#include "graft/attention_implementation.h"
#include "kernels/loops.h"

/* What the host's implementations know: every kind of mask and each feature. */
enum {
    GRAFT_ATTENTION_ALL_MASKS = GRAFT_ATTENTION_MASK_NONE | GRAFT_ATTENTION_MASK_CAUSAL | GRAFT_ATTENTION_MASK_SLIDING |
                                GRAFT_ATTENTION_MASK_DENSE | GRAFT_ATTENTION_MASK_WINDOW |
                                GRAFT_ATTENTION_MASK_CHUNKED | GRAFT_ATTENTION_MASK_BY_HEAD,
    GRAFT_ATTENTION_ALL_FEATURES = GRAFT_ATTENTION_SOFTCAP | GRAFT_ATTENTION_SINKS | GRAFT_ATTENTION_V_HEAD_DIM |
                                   GRAFT_ATTENTION_ALIBI | GRAFT_ATTENTION_CROSS | GRAFT_ATTENTION_RELATIVE
};

/* Materialises the scores of every query and key, and can give the probabilities away. */
extern const struct graft_attention_implementation graft_attention_eager;

/* Goes over keys in portions with an online softmax (Milakov & Gimelshein 2018): scores are never all there. */
extern const struct graft_attention_implementation graft_attention_sdpa;

/* Multiplications below which a second thread costs more than it brings. */
enum { GRAFT_ATTENTION_SERIAL_WORK = 1 << 17 };

/* Query heads for each key/value head. */
static inline int64_t graft_attention_group(const struct graft_attention_input *input) {
    return input->heads / input->kv_heads;
}

/* Caps scaled scores [count], where the call has a softcap. */
void graft_attention_cap(const struct graft_loops *loops, const struct graft_attention_input *input, float *scores,
                         int64_t count);

/* Adds to scores [keys] of a query and head what they get for the positions of their keys, of which `first_key` is the
 * first, where the call has ALiBi. */
void graft_attention_add_alibi(const struct graft_attention_input *input, int64_t head, int64_t first_key, int64_t keys,
                               float *scores);

/* Adds to scores [keys] of the query at `position` what they get for how far their keys are from it, where the mask has
 * that. */
void graft_attention_add_relative(const struct graft_loops *loops, const struct graft_attention_input *input,
                                  int64_t head, int64_t position, int64_t first_key, int64_t keys, float *scores);

/* What exp(score - largest) of a query's scores has to be multiplied by, given their sum, to be its weights: its sink
 * takes part; 0 where the sum is, since all keys are hidden. */
float graft_attention_factor(const struct graft_attention_input *input, int64_t head, float largest, float sum);

/* Multiplications of queries with keys, about. */
int64_t graft_attention_work(const struct graft_attention_input *input);

/* --- Parts of sdpa --- */

/* A run of queries of one sequence, with query heads that share one key/value head, so that keys and values are read
 * once for them. How items are cut does not depend on the number of threads. */
struct graft_attention_item {
    const struct graft_attention_sequence *sequence;
    int64_t kv_head;
    int64_t head;  /* the first query head */
    int64_t heads; /* so many, in order */
    int64_t first; /* query of the sequence */
    int64_t queries;
};

/* Scratch memory is in bytes.
 *
 * For several queries: everything transposed, [.., columns] with a column for each query and head, so that the loops
 * run down the columns. */
int64_t graft_attention_block_queries(const struct graft_attention_input *input);
int64_t graft_attention_block_scratch(const struct graft_loops *loops, const struct graft_attention_input *input);
void graft_attention_block_run(const struct graft_loops *loops, const struct graft_attention_input *input,
                               const struct graft_attention_item *item, float *scratch);

/* For GRAFT_SMALL_BATCH queries at most: reads keys and values as they lie, once. A query's result is the same
 * whichever others there are. */
int64_t graft_attention_direct_scratch(const struct graft_attention_input *input);
void graft_attention_direct_run(const struct graft_loops *loops, const struct graft_attention_input *input,
                                const struct graft_attention_item *item, float *scratch);

#endif
