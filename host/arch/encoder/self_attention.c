/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of an encoder: every token sees every token of its sequence. The output projection is the block's. */
#include <math.h>

#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct self_attention {
    struct graft_instance base;
    const struct graft_module *query; /* hidden_size -> hidden_size */
    const struct graft_module *key;
    const struct graft_module *value;
    int32_t layer;
    float scaling;
    int64_t heads;
    int64_t head_dim;
};

int graft_encoder_attention_describe(const struct graft_class *self, const struct graft_config *config,
                                     const struct graft_args *args, const struct graft_sink *sink,
                                     struct graft_error *error) {
    static const char *const names[] = {"query", "key", "value"};
    const struct graft_encoder_config *encoder;
    (void)args;
    int status = graft_encoder_config_keep(config, self->data, sink, &encoder, error);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == GRAFT_OK; i++) {
        status = graft_describe_linear(sink, names[i], encoder->hidden_size, encoder->hidden_size, 1, error);
    }
    return status;
}

int graft_encoder_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                   struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    (void)cls;
    struct self_attention *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->layer = (int32_t)graft_args_int(build->args, "layer_idx", 0);
    self->heads = encoder->num_attention_heads;
    self->head_dim = encoder->hidden_size / encoder->num_attention_heads;
    self->scaling = (float)(1.0 / sqrt((double)self->head_dim));
    self->query = graft_build_child(build, "query", error);
    self->key = graft_build_child(build, "key", error);
    self->value = graft_build_child(build, "value", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct self_attention *self = instance;
    int64_t tokens = args->batch->tokens;
    int64_t width = self->heads * self->head_dim;
    float *q = graft_scratch_floats(call, tokens, width, error); /* [tokens, heads, head_dim], as k and v */
    float *k = graft_scratch_floats(call, tokens, width, error);
    float *v = graft_scratch_floats(call, tokens, width, error);
    if (q == NULL || k == NULL || v == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_module *projections[] = {self->query, self->key, self->value};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, q},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, k},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, v},
    };
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = self->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = self->heads,
        .kv_heads = self->heads,
        .head_dim = self->head_dim,
        .scaling = self->scaling,
        .q = q,
        .q_stride = width,
        .k = k,
        .k_stride = width,
        .v = v,
        .v_stride = width,
        .output = args->output,
        .output_stride = width,
    };
    int status = graft_linear_forward_all(projections, call, projection_args, 3, error);
    float *const rotated[] = {q, k};
    for (int i = 0; i < 2 && args->cos != NULL && status == GRAFT_OK; i++) {
        const struct graft_rope_args rope_args = {
            sizeof rope_args, GRAFT_ROPE_HALVES, rotated[i],     width,     self->head_dim,
            tokens,           self->heads,       self->head_dim, args->cos, args->sin};
        status = call->kernels->rope(call, &rope_args, error);
    }
    return status == GRAFT_OK ? call->kernels->attention(call, &attention_args, error) : status;
}

const struct graft_self_attention graft_encoder_attention_vtable = {
    .struct_size = sizeof graft_encoder_attention_vtable,
    .forward = forward,
};
