/* SPDX-License-Identifier: Apache-2.0 */
/* Queries and latents. */
#include "attention.h"

static int norm_latents(const struct deepseek_attention *self, const struct graft_call *call, int64_t tokens,
                        float *kept, struct graft_error *error) {
    int64_t width = self->sizes.kv_lora;
    float *latents = graft_scratch_floats(call, tokens, width, error); /* [tokens, kv_lora] */
    float *normed = graft_scratch_floats(call, tokens, width, error);  /* [tokens, kv_lora] */
    const struct graft_norm_args args = {sizeof args, 0, tokens, latents, NULL, normed};
    if (latents == NULL || normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    deepseek_copy_rows(kept, width + self->sizes.rope, tokens, width, latents, width);
    int status = graft_norm_forward(self->kv_a_layernorm, call, &args, error);
    deepseek_copy_rows(normed, width, tokens, width, kept, width + self->sizes.rope);
    return status;
}

/* q [tokens, heads, nope + rope] of what q_a_proj made. */
static int widen_queries(const struct deepseek_attention *self, const struct graft_call *call, int64_t tokens,
                         float *compressed, float *q, struct graft_error *error) {
    float *normed = graft_scratch_floats(call, tokens, self->sizes.q_lora, error); /* [tokens, q_lora] */
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, compressed, NULL, normed};
    const struct graft_linear_args linear_args = {sizeof linear_args, 0, tokens, normed, q};
    int status =
        normed != NULL ? graft_norm_forward(self->q_a_layernorm, call, &norm_args, error) : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK ? graft_linear_forward(self->q_b_proj, call, &linear_args, error) : status;
}

static int rotate(const struct deepseek_sizes *sizes, const struct graft_call *call,
                  const struct graft_self_attention_args *args, const struct deepseek_projected *projected,
                  struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    int64_t width = sizes->nope + sizes->rope;
    int64_t kept = sizes->kv_lora + sizes->rope;
    const struct graft_rope_args rope_args[] = {
        {sizeof rope_args[0], sizes->rope_layout, projected->q + sizes->nope, sizes->heads * width, width, tokens,
         sizes->heads, sizes->rope, args->cos, args->sin},
        {sizeof rope_args[0], sizes->rope_layout, projected->kept + sizes->kv_lora, kept, kept, tokens, 1, sizes->rope,
         args->cos, args->sin},
    };
    int status = call->kernels->rope(call, &rope_args[0], error);
    return status == GRAFT_OK ? call->kernels->rope(call, &rope_args[1], error) : status;
}

int deepseek_project(const struct deepseek_attention *self, const struct graft_call *call,
                     const struct graft_self_attention_args *args, struct deepseek_projected *projected,
                     struct graft_error *error) {
    const struct deepseek_sizes *sizes = &self->sizes;
    int64_t tokens = args->batch->tokens;
    projected->q = graft_scratch_floats(call, tokens, sizes->heads * (sizes->nope + sizes->rope), error);
    projected->kept = graft_scratch_floats(call, tokens, sizes->kv_lora + sizes->rope, error);
    float *first = self->q_proj != NULL ? projected->q : graft_scratch_floats(call, tokens, sizes->q_lora, error);
    if (projected->q == NULL || projected->kept == NULL || first == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_module *linears[] = {self->q_proj != NULL ? self->q_proj : self->q_a_proj, self->kv_a_proj};
    const struct graft_linear_args linear_args[] = {
        {sizeof linear_args[0], 0, tokens, args->hidden_states, first},
        {sizeof linear_args[0], 0, tokens, args->hidden_states, projected->kept},
    };
    int status = graft_linear_forward_all(linears, call, linear_args, 2, error);
    if (status == GRAFT_OK && self->q_proj == NULL) {
        status = widen_queries(self, call, tokens, first, projected->q, error);
    }
    if (status == GRAFT_OK) {
        status = norm_latents(self, call, tokens, projected->kept, error);
    }
    return status == GRAFT_OK ? rotate(sizes, call, args, projected, error) : status;
}
