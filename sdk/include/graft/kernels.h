/* SPDX-License-Identifier: Apache-2.0 */
/* graft.kernels/1: the host's kernels. They select AVX2, AVX-512 or plain C at run time, and use the host's threads.
 * Activations are dense row-major f32; a `stride` is the number of floats from one row to the next. Weights are read
 * through their row blocks, in file layout. f32 results do not depend on the number of threads.
 *
 * All functions are [forward], and must not be called in the body of a parallel_for. They return a status: a mask,
 * activation, type or feature that a kernel does not know is an error, never a guess. */
#ifndef GRAFT_KERNELS_H
#define GRAFT_KERNELS_H

#include <string.h>

#include "batch.h"
#include "call.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_experts_input;

#define GRAFT_KERNELS_ID "graft.kernels/1"

/* A product for `rows` rows of the weight: y[t, r] = sum over k of weight[first_row + r, k] * x[t, k] + bias[first_row
 * + r]. */
struct graft_product {
    uint32_t struct_size;
    uint32_t required_features;        /* none are defined: 0 */
    const struct graft_weight *weight; /* [.., columns] */
    const struct graft_weight *bias;   /* one element for each row of the weight, in any shape; or NULL */
    int64_t first_row;                 /* first row of the weight and the bias */
    int64_t rows;                      /* number of rows from there on */
    const float *x;                    /* [tokens, columns] */
    int64_t x_stride;                  /* floats */
    int64_t tokens;                    /* number of rows of x and y */
    float *y;                          /* [tokens, rows]; must not overlap x */
    int64_t y_stride;                  /* floats */
};

/* [any] A product with rows [first_row, first_row + rows) of the weight: y [tokens, rows] = x [tokens, columns] times
 * these rows, plus those of the bias (NULL: none). */
GRAFT_INLINE struct graft_product graft_product_of(const struct graft_weight *weight, const struct graft_weight *bias,
                                                   int64_t first_row, int64_t rows, int64_t tokens, const float *x,
                                                   float *y) {
    struct graft_product product;
    memset(&product, 0, sizeof product);
    product.struct_size = (uint32_t)sizeof product;
    product.weight = weight;
    product.bias = bias;
    product.first_row = first_row;
    product.rows = rows;
    product.x = x;
    product.x_stride = weight->columns;
    product.tokens = tokens;
    product.y = y;
    product.y_stride = rows;
    return product;
}

/* The three products of a gated MLP (Shazeer 2020): down(act(gate(x)) * up(x)). */
struct graft_gated_products {
    uint32_t struct_size;
    int32_t activation;               /* GRAFT_ACTIVATION_... */
    const struct graft_product *gate; /* of x */
    const struct graft_product *up;   /* has as many rows and tokens */
    const struct graft_product *down; /* its x is gate's y, so it has as many columns as gate has rows */
};

/* Kinds of masks. Position i of a sequence may see position j when: */
enum {
    GRAFT_MASK_NONE = 0,    /* always */
    GRAFT_MASK_CAUSAL = 1,  /* j <= i */
    GRAFT_MASK_SLIDING = 2, /* j <= i and j > i - window */
    GRAFT_MASK_DENSE = 3,   /* given by `bias`, which is added to the scaled scores; -inf hides a key */
    GRAFT_MASK_WINDOW = 4,  /* j >= i - left and j <= i + right */
    GRAFT_MASK_CHUNKED = 5, /* j <= i and floor(j / window) == floor(i / window) */
    GRAFT_MASK_BY_HEAD = 6  /* like GRAFT_MASK_DENSE, with rows of `bias` for each query head */
};

/* The value of `left` and `right` that means no limit, and the largest value that they and `window` may have. */
#define GRAFT_MASK_UNLIMITED (INT64_MAX / 4)

/* Belongs to the caller; valid until its forward returns. */
struct graft_mask {
    uint32_t struct_size;
    int32_t kind; /* GRAFT_MASK_... */
    /* GRAFT_MASK_SLIDING: number of keys that a query sees, including its own. GRAFT_MASK_CHUNKED: positions of a
     * chunk. > 0. */
    int64_t window;
    const float *
        bias; /* GRAFT_MASK_DENSE: [tokens, bias_stride], a row for each query, a column for each key of its sequence */
    int64_t bias_stride; /* floats */
    int64_t left;        /* GRAFT_MASK_WINDOW: number of keys that a query sees before its own; >= 0 */
    int64_t right;       /* the same after its own */
    /* [heads, 2 * reach + 1]: relative position bias (Raffel et al. 2020). relative[h][reach + d] is added to the
     * scaled score of the key at position j for a query at position i, in head h, where d is j - i clamped to [-reach,
     * reach]; NULL: none. */
    const float *relative;
    int64_t reach;            /* >= 0 */
    int64_t bias_head_stride; /* GRAFT_MASK_BY_HEAD: number of floats from one head's `bias` to the next */
};

/* [any] The numbers that are added to a query's scores in a head, one for each key of its sequence; NULL for masks that
 * only hide keys. */
GRAFT_INLINE const float *graft_mask_bias(const struct graft_mask *mask, int64_t head, int64_t token) {
    const int by_head = mask->kind == GRAFT_MASK_BY_HEAD;
    return by_head || mask->kind == GRAFT_MASK_DENSE
               ? mask->bias + token * mask->bias_stride + (by_head ? head * mask->bias_head_stride : 0)
               : NULL;
}

/* [any] How many keys before its own a query may see. A dense mask may hide some of these, and a chunk may begin after
 * some of them. */
GRAFT_INLINE int64_t graft_mask_before(const struct graft_mask *mask) {
    int64_t left = mask->kind == GRAFT_MASK_WINDOW ? mask->left : GRAFT_MASK_UNLIMITED;
    return mask->kind == GRAFT_MASK_SLIDING || mask->kind == GRAFT_MASK_CHUNKED ? mask->window - 1 : left;
}

/* [any] How many keys after its own a query may see. */
GRAFT_INLINE int64_t graft_mask_after(const struct graft_mask *mask) {
    int64_t right = mask->kind == GRAFT_MASK_WINDOW ? mask->right : GRAFT_MASK_UNLIMITED;
    return mask->kind == GRAFT_MASK_CAUSAL || mask->kind == GRAFT_MASK_SLIDING || mask->kind == GRAFT_MASK_CHUNKED
               ? 0
               : right;
}

/* Latents: what the cache keeps for a token instead of keys and values, and what these are computed from: fewer
 * numbers, shared by all heads (DeepSeek-AI 2024, DeepSeek-V2, 2.1). */
struct graft_attention_latents {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t width;     /* numbers for a token; > 0 */
    const float *rows; /* [tokens, width] */
    /* [forward] Computes k [kv_heads, tokens, head_dim] and v [kv_heads, tokens, v_head_dim] of `tokens` tokens of a
     * sequence from their rows [tokens, width]. Scratch memory that it takes is freed afterwards. */
    int (*expand)(void *instance, const struct graft_call *call, const float *rows, int64_t tokens, float *k, float *v,
                  struct graft_error *error);
    void *instance; /* passed to `expand` */
};

/* softmax(q k^T * scaling + mask) v per head (Vaswani et al. 2017, eq. 1), with `heads / kv_heads` query heads for each
 * key and value head (Ainslie et al. 2023). If the batch has a cache, its keys and values are first appended to
 * `layer`. It is an error if the chosen implementation does not support a feature that is used (softcap, sinks, ALiBi,
 * a width of values other than that of keys). */
struct graft_attention_args {
    uint32_t struct_size;
    uint32_t required_features;      /* features beyond those that the fields show; none are defined, so 0 */
    const struct graft_batch *batch; /* the sequences of the tokens, and the cache of their past */
    const struct graft_mask *mask;   /* the keys that each query may see */
    int32_t layer;                   /* index of the layer in the cache */
    uint32_t reserved;
    int64_t heads;         /* number of heads of queries and output; > 0 */
    int64_t kv_heads;      /* number of heads of keys and values; divides heads */
    int64_t head_dim;      /* width of a head of queries and keys; > 0 */
    int64_t v_head_dim;    /* width of a head of values and output; 0: head_dim */
    float scaling;         /* factor of the scores: 1 / sqrt(head_dim) in most models */
    float softcap;         /* > 0: each scaled score becomes softcap * tanh(score / softcap); 0: no softcap */
    const float *sinks;    /* [heads]: an additional score in each softmax, without a value; NULL: none */
    const float *q;        /* [tokens, heads, head_dim] */
    int64_t q_stride;      /* floats */
    int64_t q_head_stride; /* floats from one head to the next; 0: head_dim */
    const float *k;        /* [tokens, kv_heads, head_dim] */
    int64_t k_stride;      /* floats */
    int64_t k_head_stride; /* 0: head_dim */
    /* [tokens, kv_heads, v_head_dim]; NULL: values are the first v_head_dim numbers of each key, and are kept only
     * once. */
    const float *v;
    int64_t v_stride;                              /* floats */
    int64_t v_head_stride;                         /* 0: v_head_dim */
    const struct graft_attention_latents *latents; /* replaces k and v, which are then not read; NULL: none */
    float *output;                                 /* [tokens, heads, v_head_dim]; overlaps nothing */
    int64_t output_stride;                         /* floats */
    /* [heads]: slopes of ALiBi (Press et al. 2022). slope * j is added to the scaled score of the key at position j,
     * counted from the start of the sequence; NULL: none. */
    const float *alibi;
    int32_t alibi_rounded; /* 1: slope * j is rounded to bf16, then scaled like the scores, as in Falcon; else 0 */
    uint32_t reserved1;    /* 0 */
    /* 1: cross attention. Keys and values are those of the batch's source texts, [source tokens, ..], which the cache
     * keeps as long as the sequence exists; for a sequence that brings no source, they are taken from the cache. The
     * mask is GRAFT_MASK_NONE. Else 0. */
    int32_t cross;
    uint32_t reserved2; /* 0 */
    /* 1: the cache has this batch's keys and values in `layer` already, by an earlier call: none are appended. Without
     * a cache k and v are read. Else 0. */
    int32_t shared;
    uint32_t reserved3; /* 0 */
};

/* Which two numbers of a rotated vector form a pair. */
enum {
    GRAFT_ROPE_HALVES = 0,     /* i and width / 2 + i: transformers' layout */
    GRAFT_ROPE_INTERLEAVED = 1 /* 2 i and 2 i + 1, rotated by cos[i] and sin[i] */
};

/* Heads of tokens to be rotated, entirely or only their first `width` numbers. */
struct graft_rope_args {
    uint32_t struct_size;
    int32_t layout;      /* GRAFT_ROPE_HALVES, ... */
    float *x;            /* [tokens, heads, >= width], input and output */
    int64_t stride;      /* floats from one token to the next */
    int64_t head_stride; /* floats from one head to the next, >= width: head_dim, if heads are packed */
    int64_t tokens;      /* number of rows of x, cos and sin */
    int64_t heads;       /* number of heads of a row */
    int64_t width;       /* how many numbers of a head are rotated; even */
    const float *cos;    /* [tokens, width], as rotary modules compute them: both halves of a row are equal */
    const float *sin;    /* [tokens, width] */
};

/* Activation functions by their transformers names (config field `hidden_act`). */
enum {
    GRAFT_ACTIVATION_SILU = 0,       /* x * sigmoid(x); "silu", "swish" */
    GRAFT_ACTIVATION_GELU = 1,       /* x * Phi(x), where Phi is the normal distribution's CDF, with erf; "gelu" */
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

    /* Computes `n` independent products; small batches share one parallel loop. The arithmetic is that of
     * call->precision. A product's result does not depend on the products it is computed with, nor a token's result on
     * the other tokens, except for whether they are a small batch (graft_call_is_small_batch). */
    int (*linear)(const struct graft_call *call, const struct graft_product *products, int32_t n,
                  uint32_t product_stride, struct graft_error *error);

    /* Runs the call's attention implementation. Every attention class calls this, so that one choice applies to all of
     * them and attention weights can be recorded. */
    int (*attention)(const struct graft_call *call, const struct graft_attention_args *args, struct graft_error *error);

    /* Runs the call's experts implementation, or `own` if none was chosen. Every class that holds stacked experts calls
     * this. Indices of experts are checked, and features that the implementation does not support are refused. */
    int (*experts)(const struct graft_call *call, const struct graft_experts_implementation *own,
                   const struct graft_experts_input *input, struct graft_error *error);

    /* y[t] = x[t] / sqrt(mean(x[t]^2) + eps) * (weight + offset) (Zhang & Sennrich 2019). x and y are [tokens, columns]
     * with `stride`s, weight [columns] in one block; y may be x. `offset` is 1 for models that store weights minus 1,
     * else 0. */
    int (*rms_norm)(const struct graft_call *call, const struct graft_weight *weight, float offset, float eps,
                    const float *x, int64_t x_stride, int64_t tokens, int64_t columns, float *y, int64_t y_stride,
                    struct graft_error *error);

    /* y[t] = (x[t] - mean(x[t])) / sqrt(variance(x[t]) + eps) * weight + bias (Ba et al. 2016), where the variance is
     * the mean of the squared deviations. x and y are [tokens, columns] with `stride`s, weight and bias [columns] in
     * one block each; `bias` NULL: 0; y may be x. */
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

    /* The k largest numbers of each row of x [rows, columns], largest first, and of equal ones the first one first. NaN
     * counts as smallest. index and values are [rows, k]; 1 <= k <= columns. */
    int (*top_k)(const struct graft_call *call, const float *x, int64_t rows, int64_t columns, int64_t k,
                 int32_t *index, float *values, struct graft_error *error);

    /* y[t] = weight[ids[t]], widened to f32. weight is [vocab, hidden], ids [tokens], each below vocab, which the
     * caller has checked. */
    int (*embedding)(const struct graft_call *call, const struct graft_weight *weight, const int32_t *ids,
                     int64_t tokens, float *y, struct graft_error *error);

    /* y[i] = x[index[i]] for `rows` rows of `columns`. */
    int (*gather_rows)(const struct graft_call *call, const float *x, const int32_t *index, int64_t rows,
                       int64_t columns, float *y, struct graft_error *error);

    /* y[index[i]] += scale[i] * x[i] for `rows` rows of `columns`; each index occurs at most once. */
    int (*scatter_add_rows)(const struct graft_call *call, const float *x, const float *scale, const int32_t *index,
                            int64_t rows, int64_t columns, float *y, struct graft_error *error);

    /* The weight's elements in row order as f32: out [rows * columns]. */
    int (*widen)(const struct graft_call *call, const struct graft_weight *weight, float *out,
                 struct graft_error *error);

    /* For `n` independent MLPs: `linear` of gate and up, gated_activation, and `linear` of down, with the same bits.
     * Elements of the array are `stride` bytes apart. The contents of gate's and up's y are undefined afterwards,
     * because some processors keep intermediate results elsewhere. Check with GRAFT_HAS. */
    int (*gated_linear)(const struct graft_call *call, const struct graft_gated_products *mlps, int32_t n,
                        uint32_t stride, struct graft_error *error);
};

/* [forward] A weight's elements in row order as f32, in scratch memory; on failure NULL, with an error recorded. For
 * parameters that are small enough to be widened in each forward. */
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
