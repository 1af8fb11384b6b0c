/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, 2.1): of each token the cache keeps one latent for all
 * heads, normed, and one part of a key that is rotated.
 *
 * Keys and values of the heads are products of kv_b_proj and latents. Where many tokens are new, those are made
 * (keys.c). Where few are, each query and each result is multiplied by kv_b_proj instead, and attention is over latents
 * themselves (latents.c). Each sequence has its own choice (sequences.c).
 */
#ifndef GRAFT_ARCH_MLA_MLA_H
#define GRAFT_ARCH_MLA_MLA_H

#include <stdatomic.h>
#include <string.h>

#include "graft/attention.h"
#include "graft/instance.h"
#include "graft/kernels.h"
#include "graft/linear.h"
#include "graft/norm.h"

struct graft_mla_sizes {
    int32_t layer;
    int32_t rope_layout; /* GRAFT_ROPE_... */
    int64_t hidden;
    int64_t heads;
    int64_t query_rank; /* 0: queries are one product */
    int64_t rank;       /* numbers of a latent */
    int64_t nope;       /* of a query's or key's head: those that come first, and are made from latents */
    int64_t rope;       /* those behind them, the same for all heads of a key */
    int64_t rotated;    /* the first ones of `rope` */
    int64_t value;      /* of a value's head */
    float scaling;
    float softcap;
    int32_t has_gate; /* what heads give is multiplied by the sigmoid of a number each */
    uint32_t reserved;
};

/* kv_b_proj taken apart by heads, so that queries and contexts can be multiplied by it in the place of every latent. */
struct graft_mla_absorbed {
    const struct graft_weight *key;   /* [heads * rank, nope]: a query's part to a query of latents */
    const struct graft_weight *value; /* [heads * value, rank]: a weighted sum of latents to one of values */
};

struct graft_mla {
    struct graft_instance base;
    struct graft_mla_sizes sizes;
    const struct graft_module *q_proj; /* hidden -> heads * (nope + rope); NULL with query_rank */
    const struct graft_module *q_a_proj;
    const struct graft_module *q_a_layernorm;
    const struct graft_module *q_b_proj;
    const struct graft_module *kv_a_proj; /* hidden -> rank + rope */
    const struct graft_module *kv_a_layernorm;
    const struct graft_module *kv_b_proj;          /* rank -> heads * (nope + value) */
    const struct graft_module *o_proj;             /* heads * value -> hidden */
    const struct graft_module *gate;               /* hidden -> heads; NULL: none */
    _Atomic(struct graft_mla_absorbed *) absorbed; /* made when first needed */
};

/* What the projections give for the tokens of a batch. */
struct graft_mla_projected {
    float *q;    /* [tokens, heads, nope + rope], rotated */
    float *kept; /* [tokens, rank + rope]: latents, normed, and the rotated parts of keys */
};

/* [forward] What the linears make of a batch's hidden states; in scratch memory. */
int graft_mla_project(const struct graft_mla *self, const struct graft_call *call,
                      const struct graft_self_attention_args *args, struct graft_mla_projected *projected,
                      struct graft_error *error);

/* [forward] context [tokens, heads, value]: by keys and values made from latents, or over the latents themselves. */
int graft_mla_attend_to_keys(struct graft_mla *self, const struct graft_call *call,
                             const struct graft_self_attention_args *args, const struct graft_mla_projected *projected,
                             float *context, struct graft_error *error);
int graft_mla_attend_to_latents(struct graft_mla *self, const struct graft_call *call,
                                const struct graft_self_attention_args *args,
                                const struct graft_mla_projected *projected, float *context, struct graft_error *error);

/* [forward] context [tokens, heads, value]: for each sequence by what is better for it. */
int graft_mla_attend(struct graft_mla *self, const struct graft_call *call,
                     const struct graft_self_attention_args *args, const struct graft_mla_projected *projected,
                     float *context, struct graft_error *error);

/* [forward] Asks kv_b_proj for its matrix, whatever class it is of. Freed by graft_mla_absorbed_free; NULL with an
 * error recorded. */
struct graft_mla_absorbed *graft_mla_absorbed_make(const struct graft_mla *self, const struct graft_call *call,
                                                   struct graft_error *error);
/* [any] Takes NULL. */
void graft_mla_absorbed_free(const struct graft_host *host, struct graft_mla_absorbed *absorbed);

/* x [tokens, stride] -> y [tokens, width], the first `width` numbers of each row. */
static inline void graft_mla_copy_rows(const float *x, int64_t x_stride, int64_t tokens, int64_t width, float *y,
                                       int64_t y_stride) {
    for (int64_t t = 0; t < tokens; t++) {
        memcpy(y + t * y_stride, x + t * x_stride, (size_t)width * sizeof *y);
    }
}

#endif
