/* SPDX-License-Identifier: Apache-2.0 */
/* A ragged batch: the tokens of several sequences, concatenated without padding: [tokens, ...]. */
#ifndef GRAFT_BATCH_H
#define GRAFT_BATCH_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* State of each sequence's earlier tokens: keys and values of each layer, and states of modules (state.h). Belongs to
 * the host. */
struct graft_cache;

/* In a forward of up to this many tokens, each token's result has the same bits as if it were computed alone: kernels
 * process weights in file layout, and attention processes the keys once for each token. So what a sequence generates
 * depends neither on the sequences that share its batches, nor on speculative tokens after its own. In a forward of
 * more tokens, each sequence has more than this many, and its results do not depend on the other sequences either.
 * Modules that compute many tokens differently from few must use this limit (graft_call_is_small_batch of call.h). */
enum { GRAFT_SMALL_BATCH = 16 };

/* Used in place of an adapter's number: all adapters, or none. */
enum { GRAFT_ADAPTER_ALL = -1, GRAFT_ADAPTER_NONE = -2 };

/* Belongs to the caller; valid until the forward returns. */
struct graft_batch {
    uint32_t struct_size;
    int32_t sequences;         /* number of sequences */
    int64_t tokens;            /* cu_seqlens[sequences] */
    const int64_t *cu_seqlens; /* [sequences + 1]: sequence s has the tokens [cu_seqlens[s], cu_seqlens[s + 1]) */
    const int64_t *positions;  /* [tokens]: the position of each token in its sequence, from 0 */
    /* [sequences]: the slot of each sequence in the cache. A slot passes to another sequence when positions start at 0
     * again. */
    const int32_t *slots;
    struct graft_cache *cache; /* NULL: there are no earlier tokens, and nothing is kept */
    /* [3, tokens]: multimodal rotary positions by time, height and width (Wang et al. 2024, Qwen2-VL, section 2.1).
     * NULL: all three are `positions`. Set by the model that places images, for the modules below it. */
    const int64_t *rotary_positions;
    /* [sequences]: by how much rotary positions are ahead of `positions`, after the images so far; NULL: 0. */
    const int64_t *rotary_offsets;
    /* [sequences]: the same after this batch, which the model writes and the host keeps; NULL: not wanted. */
    int64_t *next_rotary_offsets;
    /* [sequences]: the adapter of each sequence, an index into the config's `adapters` or GRAFT_ADAPTER_...; NULL: all
     * adapters for all sequences. Modules that are given rows and no batch use `row_adapters` of the call. */
    const int32_t *adapters;
    /* [sequences + 1]: source texts, which sequences bring along in their first forward to a model that has an encoder.
     * Sequence s has the tokens [source_cu_seqlens[s], source_cu_seqlens[s + 1]) of `source_ids`, and none in later
     * forwards; NULL: no sequence brings any. */
    const int64_t *source_cu_seqlens;
    const int32_t *source_ids; /* [source tokens] */
    /* [source tokens, hidden]: the encoder's output for them. Set by the root, for the modules below it. */
    const float *source_states;
};

GRAFT_ASSERT_SIZE(struct graft_batch, 104);

/* [any] The number of source tokens in a batch. */
GRAFT_INLINE int64_t graft_batch_source_tokens(const struct graft_batch *batch) {
    return GRAFT_HAS(batch, struct graft_batch, source_states) && batch->source_cu_seqlens != NULL
               ? batch->source_cu_seqlens[batch->sequences]
               : 0;
}

/* Keys and values of a batch's tokens, normed and rotated, which the attention of one layer fills in for the attention
 * of later layers. Belongs to the model; valid until its forward returns. */
struct graft_shared_keys {
    uint32_t struct_size;
    uint32_t reserved;
    float *keys;   /* [tokens, kv_heads, head_dim] */
    float *values; /* [tokens, kv_heads, width of a value] */
};

GRAFT_ASSERT_SIZE(struct graft_shared_keys, 24);

/* The adapters of the rows that a module is given. Belongs to the caller, like the batch. */
struct graft_row_adapters {
    uint32_t struct_size;
    int32_t adapter;         /* the adapter of all rows, if `adapters` is NULL */
    int64_t rows;            /* of `adapters` */
    const int32_t *adapters; /* [rows]: the adapter of each row, as in graft_batch; or NULL */
};

GRAFT_ASSERT_SIZE(struct graft_row_adapters, 24);

#ifdef __cplusplus
}
#endif

#endif
