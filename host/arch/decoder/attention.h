/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of a decoder, in parts: attention.c describes and runs it, projections.c makes queries, keys and values. */
#ifndef GRAFT_ARCH_DECODER_ATTENTION_H
#define GRAFT_ARCH_DECODER_ATTENTION_H

#include "arch/data/description.h"
#include "arch/decoder/relative.h"
#include "graft/attention.h"
#include "graft/instance.h"
#include "graft/parts.h"

struct graft_head_norm {
    const struct graft_module *module; /* NULL: none */
    int64_t width;                     /* head_dim, or that of all heads together */
};

enum { GRAFT_LAMBDAS = 4 };
enum { GRAFT_QKV_BLOCKS = 4 }; /* of the layout D_QKV_BLOCKS */

/* What `describe` found out. */
struct graft_attention_kept {
    struct graft_parts_attention_sizes sizes; /* first, for graft_attention_keep */
    int64_t value_dim;                        /* numbers of a head of values */
    int32_t qkv_joined; /* 1: qkv_proj in the place of the family's three projections (graft/attention.h) */
    int32_t qkv_layout; /* D_QKV_...: of `qkv` */
    int32_t gate;       /* D_GATE_... */
    int32_t gate_act;   /* D_GATE_SIGMOID, ... */
    int32_t norm_after_rotary;
    float clip; /* 0: none */
    /* Rotated queries are multiplied by 1 + query_gain * log(1 + (position + query_gain_from) / query_gain_period). */
    float query_gain; /* 0: none */
    /* And by (1 + (position + query_gain_from) / query_gain_period) ** query_power. */
    float query_power; /* 0: none */
    int64_t query_gain_period;
    int64_t query_gain_from;
    float alibi; /* 0: none */
    int32_t alibi_rounded;
    int32_t differential; /* 1: differential.c */
    float eps;            /* of its norm */
    struct graft_relative relative;
    float value_scale; /* what values are multiplied by, as the next three */
    float key_scale;
    float input_scale;
    float output_scale;
    int32_t value_is_key; /* 1: values are what the projection of keys gives, and have none of their own */
    int32_t kv_layer; /* the layer whose keys and values it uses or, if it is its own, leaves for others; -1: neither */
};

struct graft_attention {
    struct graft_instance base;
    struct graft_attention_kept kept;
    const struct graft_module *qkv;         /* hidden_size -> those of the next three together; NULL: these */
    const struct graft_module *q;           /* hidden_size -> heads * head_dim, twice that with gates */
    const struct graft_module *k;           /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *v;           /* hidden_size -> kv_heads * value_dim */
    const struct graft_module *gate;        /* hidden_size -> heads * value_dim, or heads; NULL: none */
    const struct graft_module *output;      /* heads * value_dim -> hidden_size */
    const struct graft_module *output_norm; /* of the input of `output`; NULL: none */
    struct graft_head_norm q_norm;
    struct graft_head_norm k_norm;
    struct graft_head_norm v_norm;
    const struct graft_module *relative;               /* of its own; NULL: none */
    const struct graft_weight *sinks;                  /* [heads]; NULL: none */
    const struct graft_weight *gate_bias;              /* [heads]; NULL: none */
    const struct graft_module *key_weights;            /* kv_heads * value_dim -> kv_heads; NULL: none */
    const struct graft_weight *key_rates;              /* [kv_heads], with it */
    const struct graft_weight *lambdas[GRAFT_LAMBDAS]; /* [head_dim] each, of differential attention */
};

/* Heads of the tokens of a batch, in scratch memory. */
struct graft_heads {
    float *x;            /* [tokens, heads, head_dim] */
    int64_t stride;      /* floats from token to token */
    int64_t head_stride; /* floats from head to head */
};

struct graft_projected {
    struct graft_heads q;
    struct graft_heads k;
    struct graft_heads v;
    struct graft_heads gate; /* factors of the heads' output, one a number or one a head; x is NULL: none */
};

/* [forward] copy [tokens, heads, head_dim] = x, without gaps. */
void graft_attention_copy(const struct graft_heads *x, int64_t tokens, int64_t heads, int64_t head_dim, float *copy);

/* [load] Reads whether values are keys, and checks that the rest goes with that, and with keys of another layer. */
void graft_attention_read_sharing(struct graft_reader *reader, struct graft_attention_kept *kept);

/* [forward] Keys and values that an earlier layer has left. */
int graft_attention_borrow(const struct graft_attention *self, const struct graft_self_attention_args *args,
                           struct graft_projected *out, struct graft_error *error);

/* [forward] Leaves keys and values for later layers, where some use them. */
void graft_attention_leave(const struct graft_attention *self, const struct graft_self_attention_args *args,
                           const struct graft_projected *x);

/* [any] Whether it has no keys and values of its own, but those of an earlier layer. */
static inline int graft_attention_borrows(const struct graft_attention_kept *kept) {
    return kept->kv_layer >= 0 && kept->kv_layer != kept->sizes.layer;
}

/* [forward] *slopes [heads]: those of ALiBi, in scratch memory; NULL without it. */
int graft_attention_slopes(const struct graft_attention_kept *kept, const struct graft_call *call, float **slopes,
                           struct graft_error *error);

/* [forward] Queries, keys and values of args->hidden_states. Scratch memory that it takes stays taken. */
int graft_attention_project(const struct graft_attention *self, const struct graft_call *call,
                            const struct graft_self_attention_args *args, struct graft_projected *out,
                            struct graft_error *error);

/* [forward] Norms `heads` heads of each token; x becomes a packed copy. */
int graft_attention_norm(const struct graft_head_norm *norm, const struct graft_call *call, int64_t tokens,
                         int64_t heads, int64_t head_dim, struct graft_heads *x, struct graft_error *error);

/* [load] Declares the parameters of differential attention, and finds them; other attention has none. */
int graft_differential_describe(const struct graft_attention_kept *kept, const struct graft_sink *sink,
                                struct graft_error *error);
void graft_differential_find(const struct graft_build *build, struct graft_attention *self, struct graft_error *error);

/* [forward] v becomes [tokens, kv_heads, 2 * value_dim], in scratch memory: head h has the values of head h of the
 * first half of the heads, then those of head h of the second; so has head h + kv_heads / 2. */
int graft_differential_values(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                              struct graft_heads *v, struct graft_error *error);

/* [forward] context [tokens, heads, 2 * value_dim] becomes [tokens, heads / 2, 2 * value_dim], without gaps. */
int graft_differential_combine(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                               float *context, struct graft_error *error);

/* [load] Declares the projection and the rates that give the weights of keys (key_weights.c), and finds them; nothing
 * happens where the family has none. */
int graft_key_weights_describe(const struct graft_description *description, const struct graft_attention_kept *kept,
                               const struct graft_sink *sink, struct graft_error *error);
void graft_key_weights_find(const struct graft_description *description, const struct graft_build *build,
                            struct graft_attention *self, struct graft_error *error);

/* [forward] Queries and keys become [tokens, heads, head_dim + 1], in scratch memory, so that scores have the weights
 * of their keys. */
int graft_key_weights_add(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                          struct graft_projected *x, struct graft_error *error);

/* [load] Declares the output projection, and the norm before it if the family has one. */
int graft_attention_describe_output(const struct graft_description *description,
                                    const struct graft_attention_kept *kept, const struct graft_args *args,
                                    const struct graft_sink *sink, struct graft_error *error);

/* [forward] output [tokens, hidden_size] of context [tokens, heads, value_dim], which the gate, if there is one, is
 * multiplied into. */
int graft_attention_give(const struct graft_attention *self, const struct graft_call *call, int64_t tokens,
                         const struct graft_heads *gate, float *context, float *output, struct graft_error *error);

/* [forward] Multiplies each query by the factor that query_gain and query_power give for its position. */
void graft_attention_gain(const struct graft_attention *self, const struct graft_batch *batch,
                          const struct graft_heads *q);

#endif
