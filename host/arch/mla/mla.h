/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, 2.1): for each token the cache has one normalised latent
 * for all heads, and the rotated part of a key. Keys and values of the heads are products of kv_b_proj and latents. If
 * many tokens are new, keys and values are computed (keys.c). If few are, queries and results are multiplied by
 * kv_b_proj instead, and attention is over the latents themselves (latents.c). The choice is made for each sequence
 * (sequences.c). */
#ifndef GRAFT_ARCH_MLA_MLA_H
#define GRAFT_ARCH_MLA_MLA_H

#include <stdatomic.h>
#include <string.h>

#include "arch/pass.h"
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
    int64_t query_rank; /* 0: the projection of queries is a single product */
    int64_t rank;       /* width of a latent */
    int64_t nope;       /* width of the first part of a head of queries or keys, which is computed from latents */
    int64_t rope;       /* width of the rest, which all heads of a key share */
    int64_t rotated;    /* how many of the `rope` numbers are rotated, from the first on */
    int64_t value;      /* width of a head of values */
    float scaling;
    float softcap;
};

/* kv_b_proj, split by heads, so that queries and contexts can be multiplied by it instead of every latent. */
struct graft_mla_absorbed {
    const struct graft_weight *key;   /* [heads * rank, nope]: maps a query's first part to a query for latents */
    const struct graft_weight *value; /* [heads * value, rank]: maps a weighted sum of latents to one of values */
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
    const struct graft_module *gate;               /* hidden -> heads: its sigmoid multiplies outputs; NULL: none */
    _Atomic(struct graft_mla_absorbed *) absorbed; /* created when first needed */
};

/* The outputs of the projections for the tokens of a batch. */
struct graft_mla_projected {
    float *q;    /* [tokens, heads, nope + rope], rotated */
    float *kept; /* [tokens, rank + rope]: normalised latents, and the rotated parts of keys */
};

/* [forward] Runs the projections of a batch's hidden states; in scratch memory. */
struct graft_mla_projected graft_mla_project(const struct graft_mla *self, const struct graft_pass *pass,
                                             const struct graft_self_attention_args *args);

/* [forward] Compute context [tokens, heads, value]: with keys and values computed from latents, or over the latents
 * themselves. */
int graft_mla_attend_to_keys(struct graft_mla *self, const struct graft_call *call,
                             const struct graft_self_attention_args *args, const struct graft_mla_projected *projected,
                             float *context, struct graft_error *error);
int graft_mla_attend_to_latents(struct graft_mla *self, const struct graft_call *call,
                                const struct graft_self_attention_args *args,
                                const struct graft_mla_projected *projected, float *context, struct graft_error *error);

/* [forward] Computes context [tokens, heads, value], in the better way for each sequence. */
int graft_mla_attend(struct graft_mla *self, const struct graft_call *call,
                     const struct graft_self_attention_args *args, const struct graft_mla_projected *projected,
                     float *context, struct graft_error *error);

/* [forward] Gets the matrix of kv_b_proj, whatever its class is. Freed by graft_mla_absorbed_free; NULL with an error
 * recorded on failure. */
struct graft_mla_absorbed *graft_mla_absorbed_make(const struct graft_mla *self, const struct graft_call *call,
                                                   struct graft_error *error);
/* [any] Accepts NULL. */
void graft_mla_absorbed_free(const struct graft_host *host, struct graft_mla_absorbed *absorbed);

/* Copies the first `width` numbers of each row: x [tokens, stride] -> y [tokens, width]. */
static inline void graft_mla_copy_rows(const float *x, int64_t x_stride, int64_t tokens, int64_t width, float *y,
                                       int64_t y_stride) {
    for (int64_t t = 0; t < tokens; t++) {
        memcpy(y + t * y_stride, x + t * x_stride, (size_t)width * sizeof *y);
    }
}

#endif
