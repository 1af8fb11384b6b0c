/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of a decoder, in parts: attention.c describes and runs it, projections.c makes queries, keys and values. */
#ifndef GRAFT_ARCH_DECODER_ATTENTION_H
#define GRAFT_ARCH_DECODER_ATTENTION_H

#include "arch/decoder/attend.h"
#include "arch/decoder/relative.h"
#include "arch/outline.h"

struct graft_head_norm {
    const struct graft_module *module; /* NULL: none */
    int64_t width;                     /* head_dim, or the width of all heads together */
};

enum { GRAFT_LAMBDAS = 4 };
enum { GRAFT_QKV_BLOCKS = 4 }; /* of the layout D_QKV_BLOCKS */

struct graft_attention {
    struct graft_instance base;
    struct graft_parts_attention_sizes sizes;
    int64_t value_dim;  /* width of a head of values */
    int32_t qkv_joined; /* 1: one projection qkv_proj replaces the family's three (graft/attention.h) */
    int32_t qkv_layout; /* D_QKV_...: layout of `qkv` */
    int32_t gate_kind;  /* D_GATE_... */
    int32_t gate_act;   /* D_GATE_SIGMOID, ... */
    int32_t norm_after_rotary;
    float clip; /* 0: none */
    /* Rotated queries are multiplied by 1 + query_gain * log(1 + (position + query_gain_from) / query_gain_period). */
    float query_gain; /* 0: none */
    /* Queries are multiplied by (1 + (position + query_gain_from) / query_gain_period) ** query_power, too. */
    float query_power; /* 0: none */
    int64_t query_gain_period;
    int64_t query_gain_from;
    float alibi; /* 0: none */
    int32_t alibi_rounded;
    int32_t differential; /* 1: differential.c */
    float value_scale;    /* factor of values; the next three are factors, too */
    float key_scale;
    float input_scale;
    float output_scale;
    float eps;            /* epsilon of output_norm */
    int32_t value_is_key; /* 1: values are the outputs of the projection of keys */
    int32_t kv_layer;     /* the layer whose keys and values it uses; its own layer, if later layers use its keys and
                             values; -1: neither */
    const struct graft_module
        *qkv; /* hidden_size -> queries, keys and values concatenated; NULL: the next three are used */
    const struct graft_module *q;           /* hidden_size -> heads * head_dim, twice that with gates */
    const struct graft_module *k;           /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *v;           /* hidden_size -> kv_heads * value_dim */
    const struct graft_module *gate;        /* hidden_size -> heads * value_dim, or heads; NULL: none */
    const struct graft_module *output;      /* heads * value_dim -> hidden_size */
    const struct graft_module *output_norm; /* norm of the input of `output`; NULL: none */
    struct graft_head_norm q_norm;
    struct graft_head_norm k_norm;
    struct graft_head_norm v_norm;
    struct graft_relative relative;                    /* biases by distance, with this layer's own table */
    const struct graft_weight *sinks;                  /* [heads]; NULL: none */
    const struct graft_weight *gate_bias;              /* [heads]; NULL: none */
    const struct graft_module *key_weights;            /* kv_heads * value_dim -> kv_heads; NULL: none */
    const struct graft_weight *key_rates;              /* [kv_heads]; given together with key_weights */
    const struct graft_weight *lambdas[GRAFT_LAMBDAS]; /* [head_dim] each; only for differential attention */
};

/* [load] Reads whether values are keys and whether keys come from another layer, and checks that the other choices
 * allow it. */
void graft_attention_read_sharing(struct graft_reader *reader, struct graft_attention *self);

/* [any] Whether it uses the keys and values of an earlier layer and computes none. */
static inline int graft_attention_borrows(const struct graft_attention *self) {
    return self->kv_layer >= 0 && self->kv_layer != self->sizes.layer;
}

/* [forward] Gets the keys and values of an earlier layer. */
void graft_attention_borrow(const struct graft_attention *self, const struct graft_pass *pass,
                            const struct graft_self_attention_args *args, struct graft_projected *out);

/* [forward] Stores keys and values for later layers, if any use them. */
void graft_attention_leave(const struct graft_attention *self, const struct graft_pass *pass,
                           const struct graft_self_attention_args *args, const struct graft_projected *x);

/* [forward] ALiBi's slopes [heads]; NULL without ALiBi. */
float *graft_attention_slopes(const struct graft_attention *self, const struct graft_pass *pass);

/* [forward] Computes queries, keys and values of args->hidden_states, in scratch memory that stays allocated. */
struct graft_projected graft_attention_project(const struct graft_attention *self, const struct graft_pass *pass,
                                               const struct graft_self_attention_args *args);

/* [forward] Normalises `heads` heads of each token; x becomes a packed copy. */
void graft_attention_norm(const struct graft_head_norm *norm, const struct graft_pass *pass, int64_t heads,
                          int64_t head_dim, struct graft_heads *x);

/* [load] Lays out the parameters of differential attention; other attention has none. */
void graft_differential_outline(struct graft_outline *of, struct graft_attention *self);

/* [forward] v becomes [tokens, kv_heads, 2 * value_dim], in scratch memory: head h has the values of head h of the
 * first half of the heads, then those of head h of the second; so has head h + kv_heads / 2. */
void graft_differential_values(const struct graft_attention *self, const struct graft_pass *pass,
                               struct graft_heads *v);

/* [forward] context [tokens, heads, 2 * value_dim] becomes [tokens, heads / 2, 2 * value_dim], without gaps. */
void graft_differential_combine(const struct graft_attention *self, const struct graft_pass *pass, float *context);

/* [forward] Queries and keys become [tokens, heads, head_dim + 1], in scratch memory, so that scores have the weights
 * of their keys (key_weights.c). */
void graft_key_weights_add(const struct graft_attention *self, const struct graft_pass *pass,
                           struct graft_projected *x);

/* [forward] output [tokens, hidden_size] = the output projection of context [tokens, heads, value_dim], which is
 * multiplied by the gate if there is one. */
void graft_attention_give(const struct graft_attention *self, const struct graft_pass *pass,
                          const struct graft_heads *gate, float *context, float *output);

/* [forward] Multiplies each query by the factor that query_gain and query_power give for its position. */
void graft_attention_gain(const struct graft_attention *self, const struct graft_pass *pass,
                          const struct graft_batch *batch, const struct graft_heads *q);

#endif
