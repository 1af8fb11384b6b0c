/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graft.kernels/1: the host's kernels. They pick AVX2, AVX-512 or plain C at run time, and use the host's threads.
 *
 * Activations are dense row-major f32; a `stride` is the number of floats from one row to the next. Weights are read
 * through their row blocks, in the order of the file. f32 results do not depend on the number of threads. All functions
 * are [forward] and not to be called inside a parallel_for body. They return a status: a mask, an activation, a type or
 * a feature that a kernel does not know is an error, never a guess.
 */
#ifndef GRAFT_KERNELS_H
#define GRAFT_KERNELS_H

#include "batch.h"
#include "call.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_experts_input;

#define GRAFT_KERNELS_ID "graft.kernels/1"

/* y[t, r] = sum over k of weight[first_row + r, k] * x[t, k] + bias[first_row + r], for `rows` rows of the weight. */
struct graft_product {
    uint32_t struct_size;
    uint32_t required_features;        /* none yet: 0 */
    const struct graft_weight *weight; /* [.., columns] */
    const struct graft_weight *bias;   /* as many elements as the weight has rows, in any shape; or NULL */
    int64_t first_row;                 /* of the weight and the bias */
    int64_t rows;                      /* from there on */
    const float *x;                    /* [tokens, columns] */
    int64_t x_stride;                  /* floats */
    int64_t tokens;                    /* rows of x and y */
    float *y;                          /* [tokens, rows]; must not overlap x */
    int64_t y_stride;                  /* floats */
};

/* Three products that make a gated MLP (Shazeer 2020): down(act(gate(x)) * up(x)). */
struct graft_gated_products {
    uint32_t struct_size;
    int32_t activation;               /* GRAFT_ACTIVATION_... */
    const struct graft_product *gate; /* of x */
    const struct graft_product *up;   /* of as many rows and tokens */
    const struct graft_product *down; /* of gate's y, whose rows are its columns */
};

/* Which keys a query may see. Position i of a sequence may see position j when: */
enum {
    GRAFT_MASK_NONE = 0,    /* always */
    GRAFT_MASK_CAUSAL = 1,  /* j <= i */
    GRAFT_MASK_SLIDING = 2, /* j <= i and j > i - window */
    GRAFT_MASK_DENSE = 3,   /* as `bias` says: it is added to the scaled scores, -inf hides */
    GRAFT_MASK_WINDOW = 4,  /* j >= i - left and j <= i + right */
    GRAFT_MASK_CHUNKED = 5, /* j <= i and j / window == i / window, both rounded down */
    GRAFT_MASK_BY_HEAD = 6  /* as GRAFT_MASK_DENSE, with rows of `bias` for each head of queries */
};

/* A `left` or `right` without a limit, and the largest that they and `window` may be. */
#define GRAFT_MASK_UNLIMITED (INT64_MAX / 4)

/* The caller's, until its forward returns. */
struct graft_mask {
    uint32_t struct_size;
    int32_t kind; /* GRAFT_MASK_... */
    /* GRAFT_MASK_SLIDING: keys seen, the query's own included; GRAFT_MASK_CHUNKED: positions of a chunk; > 0. */
    int64_t window;
    const float *bias; /* GRAFT_MASK_DENSE: [tokens, bias_stride], a row per query, a column per key of its sequence */
    int64_t bias_stride; /* floats */
    int64_t left;        /* GRAFT_MASK_WINDOW: keys seen before the query's own; 0 or more */
    int64_t right;       /* likewise behind it */
    /* [heads, 2 * reach + 1]: what the scaled score of the key at position j gets for a query at position i, in head h:
     * relative[h][reach + d], d = j - i, or the nearest of -reach and reach (Raffel et al. 2020); NULL: nothing. */
    const float *relative;
    int64_t reach;            /* >= 0 */
    int64_t bias_head_stride; /* GRAFT_MASK_BY_HEAD: floats from a head's `bias` to the next one's */
};

/* [any] What is added to a query's scores in a head, a number for each key of its sequence; NULL with masks that say
 * no more than which keys are seen. */
GRAFT_INLINE const float *graft_mask_bias(const struct graft_mask *mask, int64_t head, int64_t token) {
    const int by_head = mask->kind == GRAFT_MASK_BY_HEAD;
    return by_head || mask->kind == GRAFT_MASK_DENSE
               ? mask->bias + token * mask->bias_stride + (by_head ? head * mask->bias_head_stride : 0)
               : NULL;
}

/* [any] How many keys before its own a query may see; a dense mask may hide them all the same, and a chunk may begin
 * behind them. */
GRAFT_INLINE int64_t graft_mask_before(const struct graft_mask *mask) {
    int64_t left = mask->kind == GRAFT_MASK_WINDOW ? mask->left : GRAFT_MASK_UNLIMITED;
    return mask->kind == GRAFT_MASK_SLIDING || mask->kind == GRAFT_MASK_CHUNKED ? mask->window - 1 : left;
}

/* [any] How many keys behind its own. */
GRAFT_INLINE int64_t graft_mask_behind(const struct graft_mask *mask) {
    int64_t right = mask->kind == GRAFT_MASK_WINDOW ? mask->right : GRAFT_MASK_UNLIMITED;
    return mask->kind == GRAFT_MASK_CAUSAL || mask->kind == GRAFT_MASK_SLIDING || mask->kind == GRAFT_MASK_CHUNKED
               ? 0
               : right;
}

/* What keys and values are made from, and what the cache keeps of a token in their place: fewer numbers, for all heads
 * (DeepSeek-AI 2024, DeepSeek-V2, 2.1). */
struct graft_attention_latents {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t width;     /* numbers of a token; > 0 */
    const float *rows; /* [tokens, width] */
    /* [forward] k [kv_heads, tokens, head_dim] and v [kv_heads, tokens, v_head_dim] of so many tokens of a sequence,
     * made from their rows [tokens, width]; scratch memory that it takes is given back. */
    int (*expand)(void *instance, const struct graft_call *call, const float *rows, int64_t tokens, float *k, float *v,
                  struct graft_error *error);
    void *instance; /* what `expand` is given */
};

/* softmax(q k^T * scaling + mask) v per head (Vaswani et al. 2017, eq. 1), with `heads / kv_heads` query heads on each
 * key/value head (Ainslie et al. 2023). With a cache, this batch's keys and values are appended to `layer` first. What
 * not all implementations know (softcap, sinks, ALiBi, heads of values of their own width) an implementation that lacks
 * it is not run with: an error. */
struct graft_attention_args {
    uint32_t struct_size;
    uint32_t required_features;      /* beyond what the fields say: none yet, 0 */
    const struct graft_batch *batch; /* whose tokens these are, and the cache of their past */
    const struct graft_mask *mask;   /* what each query may see */
    int32_t layer;                   /* index of the layer in the cache */
    uint32_t reserved;
    int64_t heads;         /* of queries and output; > 0 */
    int64_t kv_heads;      /* of keys and values; divides heads */
    int64_t head_dim;      /* numbers of a head of queries and keys; > 0 */
    int64_t v_head_dim;    /* of a head of values and output; 0: head_dim */
    float scaling;         /* of the scores: 1 / sqrt(head_dim) in most models */
    float softcap;         /* > 0: softcap * tanh(score / softcap) for each scaled score; 0: none */
    const float *sinks;    /* [heads]: a score without a value that is in each softmax; NULL: none */
    const float *q;        /* [tokens, heads, head_dim] */
    int64_t q_stride;      /* floats */
    int64_t q_head_stride; /* floats from head to head; 0: head_dim */
    const float *k;        /* [tokens, kv_heads, head_dim] */
    int64_t k_stride;      /* floats */
    int64_t k_head_stride; /* 0: head_dim */
    /* [tokens, kv_heads, v_head_dim]; NULL: the first v_head_dim numbers of each key, which are then kept once. */
    const float *v;
    int64_t v_stride;                              /* floats */
    int64_t v_head_stride;                         /* 0: v_head_dim */
    const struct graft_attention_latents *latents; /* instead of k and v, which are then not read; NULL: none */
    float *output;                                 /* [tokens, heads, v_head_dim]; overlaps nothing */
    int64_t output_stride;                         /* floats */
    /* [heads]: slopes of ALiBi (Press et al. 2022). The scaled score of the key at position j gets slope * j; NULL:
     * none. Position 0 is the first of the sequence. */
    const float *alibi;
    int32_t alibi_rounded; /* 1: slope * j is rounded to bf16 and then scaled like scores, as Falcon has it; else 0 */
    uint32_t reserved1;    /* 0 */
    /* 1: keys and values are those of the batch's sources, [source tokens, ..], which the cache keeps as long as the
     * sequence lasts; of a sequence that brings none along, they are the cache's. The mask is GRAFT_MASK_NONE. Else 0.
     */
    int32_t cross;
    uint32_t reserved2; /* 0 */
    /* 1: the cache has this batch's keys and values in `layer` already, by an earlier call: none are appended. Without
     * a cache k and v are read. Else 0. */
    int32_t shared;
    uint32_t reserved3; /* 0 */
};

/* Which two numbers of a rotated width make a pair. */
enum {
    GRAFT_ROPE_HALVES = 0,     /* i and width / 2 + i: transformers' layout */
    GRAFT_ROPE_INTERLEAVED = 1 /* 2 i and 2 i + 1, turned by cos[i] and sin[i] */
};

/* Heads of some tokens that are to be rotated, as a whole or their first `width` numbers. */
struct graft_rope_args {
    uint32_t struct_size;
    int32_t layout;      /* GRAFT_ROPE_HALVES, ... */
    float *x;            /* [tokens, heads, >= width], in and out */
    int64_t stride;      /* floats from token to token */
    int64_t head_stride; /* floats from head to head, >= width: head_dim, where heads are packed */
    int64_t tokens;      /* rows of x, cos and sin */
    int64_t heads;       /* of a row */
    int64_t width;       /* numbers of a head that are rotated; even */
    const float *cos;    /* [tokens, width], as rotary modules give them: both halves of a row the same */
    const float *sin;    /* [tokens, width] */
};

/* Activation functions by their transformers names (config field `hidden_act`). */
enum {
    GRAFT_ACTIVATION_SILU = 0,       /* x * sigmoid(x); "silu", "swish" */
    GRAFT_ACTIVATION_GELU = 1,       /* x * Phi(x), Phi the normal distribution, by erf; "gelu" */
    GRAFT_ACTIVATION_GELU_TANH = 2,  /* its tanh form (Hendrycks & Gimpel 2016); "gelu_new", "gelu_pytorch_tanh" */
    GRAFT_ACTIVATION_QUICK_GELU = 3, /* x * sigmoid(1.702 x); "quick_gelu" */
    GRAFT_ACTIVATION_RELU = 4,
    GRAFT_ACTIVATION_TANH = 5,
    GRAFT_ACTIVATION_SIGMOID = 6,
    GRAFT_ACTIVATION_RELU2 = 7 /* relu(x)^2 (So et al. 2021); "relu2" */
};

struct graft_kernels {
    uint32_t struct_size;
    uint32_t reserved;

    /* Does `n` products that do not depend on each other; few-token ones share one parallel loop. The arithmetic is
     * call->precision's. A product's result does not depend on which others it is given together with, nor that of a
     * token on which tokens are with it as long as they are few or many (graft_call_is_small_batch). */
    int (*linear)(const struct graft_call *call, const struct graft_product *products, int32_t n,
                  uint32_t product_stride, struct graft_error *error);

    /* Runs the call's attention implementation. Every attention class goes through here, so that one choice holds for
     * all of them, and weights can be recorded. */
    int (*attention)(const struct graft_call *call, const struct graft_attention_args *args, struct graft_error *error);

    /* Runs the call's experts implementation, or `own` when none was chosen. Every class that holds stacked experts
     * goes through here. Indices of experts are checked, and what the implementation does not know is refused. */
    int (*experts)(const struct graft_call *call, const struct graft_experts_implementation *own,
                   const struct graft_experts_input *input, struct graft_error *error);

    /* y[t] = x[t] / sqrt(mean(x[t]^2) + eps) * (weight + offset) (Zhang & Sennrich 2019). x [tokens, columns] with
     * `stride`s for x and y, weight [columns] in one block; y may be x. `offset` is 1 in models whose weights are
     * stored as what they differ from 1 by, else 0. */
    int (*rms_norm)(const struct graft_call *call, const struct graft_weight *weight, float offset, float eps,
                    const float *x, int64_t x_stride, int64_t tokens, int64_t columns, float *y, int64_t y_stride,
                    struct graft_error *error);

    /* y[t] = (x[t] - mean(x[t])) / sqrt(variance(x[t]) + eps) * weight + bias (Ba et al. 2016), the variance being the
     * mean of squared deviations. x [tokens, columns] with `stride`s for x and y, weight and bias [columns] in one
     * block each, `bias` NULL: 0; y may be x. */
    int (*layer_norm)(const struct graft_call *call, const struct graft_weight *weight, const struct graft_weight *bias,
                      float eps, const float *x, int64_t x_stride, int64_t tokens, int64_t columns, float *y,
                      int64_t y_stride, struct graft_error *error);

    /* Rotates pairs of numbers of each head in place: (a, b) -> (a cos - b sin, b cos + a sin), Su et al. 2021. */
    int (*rope)(const struct graft_call *call, const struct graft_rope_args *args, struct graft_error *error);

    /* y = act(x), `count` numbers; y may be x. */
    int (*activation)(const struct graft_call *call, int32_t activation, const float *x, int64_t count, float *y,
                      struct graft_error *error);

    /* gate[t, i] = act(gate[t, i]) * up[t, i] (Shazeer 2020). Rows of `columns`. */
    int (*gated_activation)(const struct graft_call *call, int32_t activation, float *gate, int64_t gate_stride,
                            const float *up, int64_t up_stride, int64_t tokens, int64_t columns,
                            struct graft_error *error);

    /* x[i] += y[i], `count` numbers. */
    int (*add)(const struct graft_call *call, float *x, const float *y, int64_t count, struct graft_error *error);

    /* softmax over each row of x [rows, columns], in place, in f32. */
    int (*softmax)(const struct graft_call *call, float *x, int64_t rows, int64_t columns, struct graft_error *error);

    /* The k largest of each row of x [rows, columns], largest first, of equals the first one first. NaN counts as
     * smallest. index, values [rows, k]; 1 <= k <= columns. */
    int (*top_k)(const struct graft_call *call, const float *x, int64_t rows, int64_t columns, int64_t k,
                 int32_t *index, float *values, struct graft_error *error);

    /* y[t] = weight[ids[t]], widened to f32. weight [vocab, hidden]; ids [tokens], each below vocab (checked by the
     * caller). */
    int (*embedding)(const struct graft_call *call, const struct graft_weight *weight, const int32_t *ids,
                     int64_t tokens, float *y, struct graft_error *error);

    /* y[i] = x[index[i]] for `rows` rows of `columns`. */
    int (*gather_rows)(const struct graft_call *call, const float *x, const int32_t *index, int64_t rows,
                       int64_t columns, float *y, struct graft_error *error);

    /* y[index[i]] += scale[i] * x[i] for `rows` rows of `columns`; an index occurs once. */
    int (*scatter_add_rows)(const struct graft_call *call, const float *x, const float *scale, const int32_t *index,
                            int64_t rows, int64_t columns, float *y, struct graft_error *error);

    /* The weight's elements in row order as f32: out [rows * columns]. */
    int (*widen)(const struct graft_call *call, const struct graft_weight *weight, float *out,
                 struct graft_error *error);

    /* `linear` of gate and up, gated_activation and `linear` of down, to the bit, for `n` MLPs that do not depend on
     * each other; an array's elements are `stride` bytes apart. What gate's and up's y hold afterwards is not said: on
     * some processors what is between the products never gets there. To be asked for with GRAFT_HAS. */
    int (*gated_linear)(const struct graft_call *call, const struct graft_gated_products *mlps, int32_t n,
                        uint32_t stride, struct graft_error *error);
};

/* [forward] A weight's elements in row order as f32, in scratch memory; on failure NULL, with an error recorded. For
 * parameters so small that their numbers can be had anew in each forward. */
GRAFT_INLINE float *graft_scratch_widened(const struct graft_call *call, const struct graft_weight *weight,
                                          struct graft_error *error) {
    float *numbers = graft_scratch_floats(call, weight->rows, weight->columns, error);
    return numbers != NULL && call->kernels->widen(call, weight, numbers, error) == GRAFT_OK ? numbers : NULL;
}

/* [forward] x [count] = softcap * tanh(x / softcap), in place. */
GRAFT_INLINE int graft_softcap(const struct graft_call *call, float softcap, float *x, int64_t count,
                               struct graft_error *error) {
    for (int64_t i = 0; i < count; i++) {
        x[i] /= softcap;
    }
    int status = call->kernels->activation(call, GRAFT_ACTIVATION_TANH, x, count, x, error);
    for (int64_t i = 0; i < count; i++) {
        x[i] *= softcap;
    }
    return status;
}

GRAFT_ASSERT_SIZE(struct graft_product, 80);
GRAFT_ASSERT_SIZE(struct graft_gated_products, 32);
GRAFT_ASSERT_SIZE(struct graft_mask, 72);
GRAFT_ASSERT_SIZE(struct graft_attention_latents, 40);
GRAFT_ASSERT_SIZE(struct graft_attention_args, 208);
GRAFT_ASSERT_SIZE(struct graft_rope_args, 72);
GRAFT_ASSERT_SIZE(struct graft_kernels, 136);

#ifdef __cplusplus
}
#endif

#endif
