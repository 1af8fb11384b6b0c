/* SPDX-License-Identifier: Apache-2.0 */
/* The host's attention implementations, and what they share. */
#ifndef GRAFT_KERNELS_ATTENTION_H
#define GRAFT_KERNELS_ATTENTION_H

#include "graft/attention_implementation.h"
#include "kernels/loops.h"

/* The masks and features that the host's implementations support: all of them. */
enum {
    GRAFT_ATTENTION_ALL_MASKS = GRAFT_ATTENTION_MASK_NONE | GRAFT_ATTENTION_MASK_CAUSAL | GRAFT_ATTENTION_MASK_SLIDING |
                                GRAFT_ATTENTION_MASK_DENSE | GRAFT_ATTENTION_MASK_WINDOW |
                                GRAFT_ATTENTION_MASK_CHUNKED | GRAFT_ATTENTION_MASK_BY_HEAD,
    GRAFT_ATTENTION_ALL_FEATURES = GRAFT_ATTENTION_SOFTCAP | GRAFT_ATTENTION_SINKS | GRAFT_ATTENTION_V_HEAD_DIM |
                                   GRAFT_ATTENTION_ALIBI | GRAFT_ATTENTION_CROSS | GRAFT_ATTENTION_RELATIVE
};

/* Computes the scores of all queries and keys at once, and can return the probabilities. */
extern const struct graft_attention_implementation graft_attention_eager;

/* Processes keys in portions with an online softmax (Milakov & Gimelshein 2018), so that the scores of all keys never
 * exist at once. */
extern const struct graft_attention_implementation graft_attention_sdpa;

/* Number of multiplications below which a second thread costs more than it saves. */
enum { GRAFT_ATTENTION_SERIAL_WORK = 1 << 17 };

/* Query heads for each key/value head. */
static inline int64_t graft_attention_group(const struct graft_attention_input *input) {
    return input->heads / input->kv_heads;
}

/* Applies the softcap to scaled scores [count], if the call has one. */
void graft_attention_cap(const struct graft_loops *loops, const struct graft_attention_input *input, float *scores,
                         int64_t count);

/* Adds the ALiBi biases of keys `first_key` and following to scores [keys] of a query and head, if the call has
 * ALiBi. */
void graft_attention_add_alibi(const struct graft_attention_input *input, int64_t head, int64_t first_key, int64_t keys,
                               float *scores);

/* Adds the mask's biases by distance to scores [keys] of the query at `position`, if it has any. */
void graft_attention_add_relative(const struct graft_loops *loops, const struct graft_attention_input *input,
                                  int64_t head, int64_t position, int64_t first_key, int64_t keys, float *scores);

/* The factor that turns exp(score - largest) of a query's scores, which add up to `sum`, into probabilities. The head's
 * sink is taken into account. 0 if `sum` is 0, as all keys are hidden. */
float graft_attention_factor(const struct graft_attention_input *input, int64_t head, float largest, float sum);

/* The approximate number of multiplications of queries with keys. */
int64_t graft_attention_work(const struct graft_attention_input *input);

/* --- Parts of sdpa --- */

/* A run of queries of one sequence, with query heads that share one key/value head, so that keys and values are read
 * once for them. How items are cut does not depend on the number of threads. */
struct graft_attention_item {
    const struct graft_attention_sequence *sequence;
    int64_t kv_head;
    int64_t head;  /* the first query head */
    int64_t heads; /* number of consecutive query heads */
    int64_t first; /* first query, counted within the sequence */
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

/* For at most GRAFT_SMALL_BATCH queries: reads keys and values in place, once. A query's result does not depend on the
 * other queries. */
int64_t graft_attention_direct_scratch(const struct graft_attention_input *input);
void graft_attention_direct_run(const struct graft_loops *loops, const struct graft_attention_input *input,
                                const struct graft_attention_item *item, float *scratch);

#endif
