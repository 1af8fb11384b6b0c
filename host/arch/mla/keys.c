/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over keys and values that are computed from latents. */
#include "arch/mla/mla.h"

/* Numbers to copy at a time; for fewer it is not worth starting another thread. */
enum { COPIED_AT_ONCE = 1 << 15 };

/* Keys and values of some tokens, and the arrays that they are copied from. */
struct expansion {
    const struct graft_mla_sizes *sizes;
    int64_t tokens;
    const float *rows;   /* [tokens, rank + rope] */
    const float *halves; /* [tokens, heads, nope + v]: output of kv_b_proj for the latents */
    float *k;            /* [heads, tokens, nope + rope] */
    float *v;            /* [heads, tokens, v] */
};

static void distribute(void *data, int64_t begin, int64_t end) {
    const struct expansion *expansion = data;
    const struct graft_mla_sizes *sizes = expansion->sizes;
    int64_t width = sizes->nope + sizes->value;
    for (int64_t h = begin; h < end; h++) {
        float *k = expansion->k + h * expansion->tokens * (sizes->nope + sizes->rope);
        float *v = expansion->v + h * expansion->tokens * sizes->value;
        const float *from = expansion->halves + h * width;
        graft_mla_copy_rows(from, sizes->heads * width, expansion->tokens, sizes->nope, k, sizes->nope + sizes->rope);
        graft_mla_copy_rows(expansion->rows + sizes->rank, sizes->rank + sizes->rope, expansion->tokens, sizes->rope,
                            k + sizes->nope, sizes->nope + sizes->rope);
        graft_mla_copy_rows(from + sizes->nope, sizes->heads * width, expansion->tokens, sizes->value, v, sizes->value);
    }
}

static int expand(void *instance, const struct graft_call *call, const float *rows, int64_t tokens, float *k, float *v,
                  struct graft_error *error) {
    const struct graft_mla *self = instance;
    const struct graft_mla_sizes *sizes = &self->sizes;
    float *latents = graft_scratch_floats(call, tokens, sizes->rank, error); /* [tokens, rank] */
    float *halves = graft_scratch_floats(call, tokens, sizes->heads * (sizes->nope + sizes->value), error);
    const struct graft_linear_args args = {sizeof args, 0, tokens, latents, halves};
    struct expansion expansion = {sizes, tokens, rows, halves, k, v};
    if (latents == NULL || halves == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_mla_copy_rows(rows, sizes->rank + sizes->rope, tokens, sizes->rank, latents, sizes->rank);
    int status = graft_linear_forward(self->kv_b_proj, call, &args, error);
    if (status == GRAFT_OK) {
        call->threads->parallel_for(sizes->heads, 1 + COPIED_AT_ONCE / (tokens * sizes->nope + 1), distribute,
                                    &expansion);
    }
    return status;
}

int graft_mla_attend_to_keys(struct graft_mla *self, const struct graft_call *call,
                             const struct graft_self_attention_args *args, const struct graft_mla_projected *projected,
                             float *context, struct graft_error *error) {
    const struct graft_mla_sizes *sizes = &self->sizes;
    const struct graft_attention_latents latents = {
        .struct_size = sizeof latents,
        .width = sizes->rank + sizes->rope,
        .rows = projected->kept,
        .expand = expand,
        .instance = self,
    };
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = sizes->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = sizes->heads,
        .kv_heads = sizes->heads,
        .head_dim = sizes->nope + sizes->rope,
        .v_head_dim = sizes->value,
        .scaling = sizes->scaling,
        .softcap = sizes->softcap,
        .q = projected->q,
        .q_stride = sizes->heads * (sizes->nope + sizes->rope),
        .output = context,
        .output_stride = sizes->heads * sizes->value,
        .latents = &latents,
    };
    return call->kernels->attention(call, &attention_args, error);
}
