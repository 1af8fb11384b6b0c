/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, 2.1): of each token the cache keeps one latent for all
 * heads, normed, and one part of a key that is rotated.
 *
 * Keys and values of the heads are products of kv_b_proj and latents. Where many tokens are new, those are made
 * (keys.c). Where few are, each query and each result is multiplied by kv_b_proj instead, and attention is over latents
 * themselves (latents.c). Each sequence has its own choice (sequences.c).
 */
#ifndef DEEPSEEK_ATTENTION_H
#define DEEPSEEK_ATTENTION_H

#include <stdatomic.h>
#include <string.h>

#include "deepseek.h"
#include "graft/kernels.h"
#include "graft/linear.h"
#include "graft/norm.h"

struct deepseek_attention {
    struct deepseek_sizes sizes;
    const struct graft_module *q_proj; /* hidden -> heads * (nope + rope); NULL with q_lora */
    const struct graft_module *q_a_proj;
    const struct graft_module *q_a_layernorm;
    const struct graft_module *q_b_proj;
    const struct graft_module *kv_a_proj; /* hidden -> kv_lora + rope */
    const struct graft_module *kv_a_layernorm;
    const struct graft_module *kv_b_proj;         /* kv_lora -> heads * (nope + v) */
    const struct graft_module *o_proj;            /* heads * v -> hidden */
    _Atomic(struct deepseek_absorbed *) absorbed; /* made when first needed */
};

/* Of a batch. */
struct deepseek_projected {
    float *q;    /* [tokens, heads, nope + rope], rotated */
    float *kept; /* [tokens, kv_lora + rope]: latents, normed, and the rotated parts of keys */
};

/* [forward] What the linears make of a batch's hidden states; in scratch memory. */
int deepseek_project(const struct deepseek_attention *self, const struct graft_call *call,
                     const struct graft_self_attention_args *args, struct deepseek_projected *projected,
                     struct graft_error *error);

/* [forward] context [tokens, heads, v]: by keys and values made from latents, or over the latents themselves. */
int deepseek_attend_to_keys(struct deepseek_attention *self, const struct graft_call *call,
                            const struct graft_self_attention_args *args, const struct deepseek_projected *projected,
                            float *context, struct graft_error *error);
int deepseek_attend_to_latents(struct deepseek_attention *self, const struct graft_call *call,
                               const struct graft_self_attention_args *args, const struct deepseek_projected *projected,
                               float *context, struct graft_error *error);

/* [forward] context [tokens, heads, v]: for each sequence by what is better for it. */
int deepseek_attend(struct deepseek_attention *self, const struct graft_call *call,
                    const struct graft_self_attention_args *args, const struct deepseek_projected *projected,
                    float *context, struct graft_error *error);

/* x [tokens, stride] -> y [tokens, width], the first `width` numbers of each row. */
static inline void deepseek_copy_rows(const float *x, int64_t x_stride, int64_t tokens, int64_t width, float *y,
                                      int64_t y_stride) {
    for (int64_t t = 0; t < tokens; t++) {
        memcpy(y + t * y_stride, x + t * x_stride, (size_t)width * sizeof *y);
    }
}

#endif
