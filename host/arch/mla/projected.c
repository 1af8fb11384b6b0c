/* SPDX-License-Identifier: Apache-2.0 */
/* Computes queries and latents. */
#include "arch/mla/mla.h"

static int norm_latents(const struct graft_mla *self, const struct graft_call *call, int64_t tokens, float *kept,
                        struct graft_error *error) {
    int64_t width = self->sizes.rank;
    float *latents = graft_scratch_floats(call, tokens, width, error); /* [tokens, rank] */
    float *normed = graft_scratch_floats(call, tokens, width, error);  /* [tokens, rank] */
    const struct graft_norm_args args = {sizeof args, 0, tokens, latents, NULL, normed};
    if (latents == NULL || normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_mla_copy_rows(kept, width + self->sizes.rope, tokens, width, latents, width);
    int status = graft_norm_forward(self->kv_a_layernorm, call, &args, error);
    graft_mla_copy_rows(normed, width, tokens, width, kept, width + self->sizes.rope);
    return status;
}

/* Computes q [tokens, heads, nope + rope] from the output of q_a_proj. */
static int widen_queries(const struct graft_mla *self, const struct graft_call *call, int64_t tokens, float *compressed,
                         float *q, struct graft_error *error) {
    float *normed = graft_scratch_floats(call, tokens, self->sizes.query_rank, error); /* [tokens, query_rank] */
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, compressed, NULL, normed};
    const struct graft_linear_args linear_args = {sizeof linear_args, 0, tokens, normed, q};
    int status =
        normed != NULL ? graft_norm_forward(self->q_a_layernorm, call, &norm_args, error) : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK ? graft_linear_forward(self->q_b_proj, call, &linear_args, error) : status;
}

static int rotate(const struct graft_mla_sizes *sizes, const struct graft_call *call,
                  const struct graft_self_attention_args *args, const struct graft_mla_projected *projected,
                  struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    int64_t width = sizes->nope + sizes->rope;
    int64_t kept = sizes->rank + sizes->rope;
    const struct graft_rope_args rope_args[] = {
        {sizeof rope_args[0], sizes->rope_layout, projected->q + sizes->nope, sizes->heads * width, width, tokens,
         sizes->heads, sizes->rotated, args->cos, args->sin},
        {sizeof rope_args[0], sizes->rope_layout, projected->kept + sizes->rank, kept, kept, tokens, 1, sizes->rotated,
         args->cos, args->sin},
    };
    if (args->cos == NULL) {
        return GRAFT_OK;
    }
    int status = call->kernels->rope(call, &rope_args[0], error);
    return status == GRAFT_OK ? call->kernels->rope(call, &rope_args[1], error) : status;
}

int graft_mla_project(const struct graft_mla *self, const struct graft_call *call,
                      const struct graft_self_attention_args *args, struct graft_mla_projected *projected,
                      struct graft_error *error) {
    const struct graft_mla_sizes *sizes = &self->sizes;
    int64_t tokens = args->batch->tokens;
    projected->q = graft_scratch_floats(call, tokens, sizes->heads * (sizes->nope + sizes->rope), error);
    projected->kept = graft_scratch_floats(call, tokens, sizes->rank + sizes->rope, error);
    float *first = self->q_proj != NULL ? projected->q : graft_scratch_floats(call, tokens, sizes->query_rank, error);
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
