/* SPDX-License-Identifier: Apache-2.0 */
/* Attention implementations, chosen by name (`--attn-implementation`). An implementation computes what lies between the
 * projections of every attention class, the host's own and those of plugins, and replaces no class. Classes call it as
 * call->kernels->attention (kernels.h); the host then appends the batch's keys and values to the cache, and passes all
 * of them to the implementation. The host has "eager", which materialises the scores, and "sdpa", the default, which
 * processes the keys in blocks. A plugin lists its own in its descriptor (plugin.h). */
#ifndef GRAFT_ATTENTION_IMPLEMENTATION_H
#define GRAFT_ATTENTION_IMPLEMENTATION_H

#include "abi.h"
#include "call.h"
#include "convert.h"
#include "dtype.h"
#include "error.h"
#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One sequence of the batch, with earlier tokens from the cache. Query i is at position past + i, and key j at position
 * j. With GRAFT_ATTENTION_CROSS the keys are those of the source text: `past` is 0, and `length` is any number. */
struct graft_attention_sequence {
    uint32_t struct_size;
    graft_dtype dtype;   /* of keys and values: GRAFT_DTYPE_F32, or GRAFT_DTYPE_BF16 for implementations that read it */
    int64_t first_token; /* its queries and outputs are rows [first_token, first_token + tokens) of the batch */
    int64_t tokens;      /* number of its tokens in this batch; may be 0 */
    int64_t past;        /* number of its earlier tokens, from the cache */
    int64_t length;      /* past + tokens: number of keys, and of values, for each of the kv_heads */
    /* Key j of head h is at keys + h * key_head_stride + j * key_row_stride, [head_dim]. If `dtype` is bf16, cast the
     * pointer to uint16_t. */
    const float *keys;
    int64_t key_head_stride;   /* numbers */
    int64_t key_row_stride;    /* numbers */
    const float *values;       /* the same for values, [v_head_dim]; they may overlap the keys */
    int64_t value_head_stride; /* numbers */
    int64_t value_row_stride;  /* numbers */
    float *
        weights; /* [heads, tokens, length], to be filled with the probabilities, 0 for masked keys; NULL: not wanted */
};

/* The host's; valid until the forward returns. */
struct graft_attention_input {
    uint32_t struct_size;
    uint32_t required_features; /* GRAFT_ATTENTION_SOFTCAP, ..: features that this call needs; set by the host */
    /* The keys that a query may see. Its kind is one that the implementation lists, and has to be obeyed. */
    const struct graft_mask *mask;
    int32_t layer; /* index of the layer in the cache */
    uint32_t reserved;
    int64_t heads;      /* number of heads of queries and output; > 0 */
    int64_t kv_heads;   /* divides heads: query head h uses key and value head h / (heads / kv_heads) */
    int64_t head_dim;   /* width of a head of queries and keys; > 0 */
    int64_t v_head_dim; /* width of a head of values and output; > 0 */
    float scaling;      /* factor of the scores */
    /* If it is above 0, each scaled score becomes softcap * tanh(score / softcap) before the mask; 0: no softcap. */
    float softcap;
    /* [heads]: an additional score in each head's softmax, without a value, so that a query's weights add up to less
     * than 1; NULL: none. */
    const float *sinks;
    const float *q;        /* [tokens, heads, head_dim], rows q_stride apart, heads q_head_stride */
    int64_t q_stride;      /* floats */
    int64_t q_head_stride; /* floats */
    const struct graft_attention_sequence *sequences; /* [n_sequences]: graft_attention_sequence_at */
    int32_t n_sequences;
    uint32_t sequence_stride;
    float *output;         /* [tokens, heads, v_head_dim], rows output_stride apart; overlaps nothing */
    int64_t output_stride; /* floats */
    /* [heads]: ALiBi slopes; slope * j is added to the scaled and capped score of key j before the mask (Press et al.
     * 2022). NULL: none. graft_attention_alibi computes the product as `alibi_rounded` says. */
    const float *alibi;
    int32_t alibi_rounded; /* 1: the product is rounded to bf16, then multiplied by `scaling`; else 0 */
    uint32_t reserved1;    /* 0 */
    int32_t cross;         /* 1: keys and values are those of the source text (cross attention); else 0 */
    uint32_t reserved2;    /* 0 */
};

/* Features that an implementation may lack; it is then not used for models that need them. */
enum {
    GRAFT_ATTENTION_SOFTCAP = 1,    /* softcap is not 0 */
    GRAFT_ATTENTION_SINKS = 2,      /* sinks is not NULL */
    GRAFT_ATTENTION_V_HEAD_DIM = 4, /* v_head_dim is not head_dim */
    GRAFT_ATTENTION_ALIBI = 8,      /* alibi is not NULL */
    GRAFT_ATTENTION_CROSS = 16,     /* cross is not 0 */
    GRAFT_ATTENTION_RELATIVE = 32   /* mask->relative is not NULL */
};

enum {
    /* fills `weights` when asked; an implementation without this flag is never asked */
    GRAFT_ATTENTION_GIVES_WEIGHTS = 1,
    /* Reads keys and values in the cache's dtype, including bf16. For an implementation without this flag they are
       always f32, which takes a widened copy in each call. */
    GRAFT_ATTENTION_READS_BF16 = 2
};

/* A bit for each kind of mask. */
enum {
    GRAFT_ATTENTION_MASK_NONE = 1 << GRAFT_MASK_NONE,
    GRAFT_ATTENTION_MASK_CAUSAL = 1 << GRAFT_MASK_CAUSAL,
    GRAFT_ATTENTION_MASK_SLIDING = 1 << GRAFT_MASK_SLIDING,
    GRAFT_ATTENTION_MASK_DENSE = 1 << GRAFT_MASK_DENSE,
    GRAFT_ATTENTION_MASK_WINDOW = 1 << GRAFT_MASK_WINDOW,
    GRAFT_ATTENTION_MASK_CHUNKED = 1 << GRAFT_MASK_CHUNKED,
    GRAFT_ATTENTION_MASK_BY_HEAD = 1 << GRAFT_MASK_BY_HEAD
};

/* Must not change until the plugin's `deinit`. */
struct graft_attention_implementation {
    uint32_t struct_size;
    uint32_t flags;   /* GRAFT_ATTENTION_GIVES_WEIGHTS, GRAFT_ATTENTION_READS_BF16 */
    const char *name; /* "eager": letters, digits, '_', '-', '.'; unique among the host's and all plugins' */
    /* GRAFT_ATTENTION_MASK_...: kinds of masks that it obeys. A call with another kind is an error and is not run, so
     * that no mask is ignored in silence. */
    uint32_t masks;
    /* GRAFT_ATTENTION_SOFTCAP, ..: the bits of graft_attention_input.required_features that it knows. A call with
     * another bit is an error and is not run. */
    uint32_t features;
    /* [forward] output = softmax(q k^T * scaling + mask) v per head (Vaswani et al. 2017, eq. 1); a query whose keys
     * are all masked yields zeros. Required. */
    int (*forward)(const struct graft_attention_implementation *self, const struct graft_call *call,
                   const struct graft_attention_input *input, struct graft_error *error);
    const void *data; /* for the implementation's use; may be NULL */
};

#define GRAFT_ATTENTION_IMPLEMENTATION_SIZE_1_0 GRAFT_END_OF(struct graft_attention_implementation, data)

GRAFT_ASSERT_SIZE(struct graft_attention_sequence, 96);
GRAFT_ASSERT_SIZE(struct graft_attention_input, 152);
GRAFT_ASSERT_SIZE(struct graft_attention_implementation, 40);

/* [any] Sequence `i`. */
GRAFT_INLINE const struct graft_attention_sequence *
graft_attention_sequence_at(const struct graft_attention_input *input, int32_t i) {
    const char *at = (const char *)input->sequences + (size_t)i * input->sequence_stride;
    return (const struct graft_attention_sequence *)(const void *)at;
}

/* [any] What ALiBi adds to the score of key `j`, if `alibi` is not NULL. */
GRAFT_INLINE float graft_attention_alibi(const struct graft_attention_input *input, int64_t head, int64_t j) {
    float bias = input->alibi[head] * (float)j;
    return input->alibi_rounded ? graft_f32_from_bf16(graft_bf16_from_f32(bias)) * input->scaling : bias;
}

/* [any] What the relative bias adds to the score of the key at position `j` for the query at `position`, if
 * mask->relative is not NULL. */
GRAFT_INLINE float graft_attention_relative(const struct graft_attention_input *input, int64_t head, int64_t position,
                                            int64_t j) {
    int64_t reach = input->mask->reach;
    int64_t distance = j - position < -reach ? -reach : j - position > reach ? reach : j - position;
    return input->mask->relative[head * (2 * reach + 1) + reach + distance];
}

/* [any] The first key in the window of `position`; a dense mask may still hide it. */
GRAFT_INLINE int64_t graft_attention_first_key(const struct graft_mask *mask, int64_t position) {
    int64_t before = mask->kind == GRAFT_MASK_CHUNKED ? position % mask->window : graft_mask_before(mask);
    return position > before ? position - before : 0;
}

/* [any] The end of the window of `position` (one more than its last key), of `length` keys; a dense mask may hide some
 * of them. */
GRAFT_INLINE int64_t graft_attention_end_key(const struct graft_mask *mask, int64_t position, int64_t length) {
    int64_t after = graft_mask_after(mask);
    return after < length - position ? position + after + 1 : length;
}

#ifdef __cplusplus
}
#endif

#endif
