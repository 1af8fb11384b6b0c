/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ragged batch: the tokens of several sequences one behind the other, [tokens, ...], with no padding between them.
 */
#ifndef GRAFT_BATCH_H
#define GRAFT_BATCH_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What earlier tokens of each sequence left behind: keys and values per layer, and states of modules (state.h). The
 * host's. */
struct graft_cache;

/* In a forward of up to so many tokens each gets what it would get alone, to the bit: kernels read weights' rows as
 * they lie, and attention goes over the keys once for each token. So what a sequence generates does not depend on those
 * that go through the model with it, nor on guesses behind its tokens. A forward of more tokens has more than so many
 * of each sequence, and what a sequence gets does not depend on the others either. Modules that compute many tokens in
 * another way than few keep to this number (graft_call_is_small_batch of call.h). */
enum { GRAFT_SMALL_BATCH = 16 };

/* In the place of the number of an adapter: every one of them, or none. */
enum { GRAFT_ADAPTER_ALL = -1, GRAFT_ADAPTER_NONE = -2 };

/* The caller's, until the forward returns that it was given to. */
struct graft_batch {
    uint32_t struct_size;
    int32_t sequences;         /* number of sequences in this batch */
    int64_t tokens;            /* cu_seqlens[sequences] */
    const int64_t *cu_seqlens; /* [sequences + 1]: sequence s holds the tokens [cu_seqlens[s], cu_seqlens[s + 1]) */
    const int64_t *positions;  /* [tokens]: the position of each token in its sequence, from 0 */
    /* [sequences]: where each sequence lives in the cache, a number of its own. Another sequence has it when its
     * positions start at 0 again. */
    const int32_t *slots;
    struct graft_cache *cache; /* NULL: no earlier tokens, and none are kept */
    /* Multimodal rotary positions (Wang et al. 2024, Qwen2-VL, section 2.1): [3, tokens], by time, by height and by
     * width. NULL: `positions`, three times. The model that places images fills them in for those below it. */
    const int64_t *rotary_positions;
    /* [sequences]: what rotary positions are ahead of `positions` by, behind the images so far; NULL: nothing. */
    const int64_t *rotary_offsets;
    /* [sequences]: the same behind this batch, for the model to write and for the host to remember; NULL: not wanted.
     */
    int64_t *next_rotary_offsets;
    /* [sequences]: the adapter that takes effect on each, a number in the config's `adapters`, or GRAFT_ADAPTER_...;
     * NULL: all adapters on all of them. Modules that see rows and no batch read `row_adapters` of the call. */
    const int32_t *adapters;
    /* What sequences bring along in their first forward, to a model that has an encoder: [sequences + 1], sequence s
     * the tokens [source_cu_seqlens[s], source_cu_seqlens[s + 1]) of `source_ids`, none in later forwards; NULL: none
     * brings any. */
    const int64_t *source_cu_seqlens;
    const int32_t *source_ids; /* [source tokens] */
    /* [source tokens, hidden]: what the encoder makes of them. The root fills it in for those below it. */
    const float *source_states;
};

GRAFT_ASSERT_SIZE(struct graft_batch, 104);

/* [any] How many tokens the sequences of a batch bring along for an encoder. */
GRAFT_INLINE int64_t graft_batch_source_tokens(const struct graft_batch *batch) {
    return GRAFT_HAS(batch, struct graft_batch, source_states) && batch->source_cu_seqlens != NULL
               ? batch->source_cu_seqlens[batch->sequences]
               : 0;
}

/* Keys and values of a batch's tokens, [tokens, kv_heads, head_dim], normed and rotated, that the attention of one
 * layer fills in for those of later layers. The model's, until its forward returns. */
struct graft_shared_keys {
    uint32_t struct_size;
    uint32_t reserved;
    float *keys;   /* [tokens, kv_heads, head_dim] */
    float *values; /* [tokens, kv_heads, width of a value] */
};

GRAFT_ASSERT_SIZE(struct graft_shared_keys, 24);

/* The adapters of the rows that modules are given. The caller's, as the batch. */
struct graft_row_adapters {
    uint32_t struct_size;
    int32_t adapter;         /* of all rows, where `adapters` is NULL */
    int64_t rows;            /* of `adapters` */
    const int32_t *adapters; /* [rows]: as in the batch; or NULL */
};

GRAFT_ASSERT_SIZE(struct graft_row_adapters, 24);

#ifdef __cplusplus
}
#endif

#endif
