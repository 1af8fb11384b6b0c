/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of a decoder with rotary positions: q_proj, k_proj, v_proj, and o_proj on the way out. */
#include <math.h>

#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct attention {
    struct graft_instance base;
    const struct graft_module *q_proj; /* hidden_size -> heads * head_dim */
    const struct graft_module *k_proj; /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *v_proj; /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *o_proj; /* heads * head_dim -> hidden_size */
    const struct graft_module *q_norm; /* over head_dim; NULL without traits->query_key_norm */
    const struct graft_module *k_norm;
    int32_t layer;
    float scaling;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_dim;
};

int graft_attention_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_traits *traits = self->data;
    const struct graft_decoder_config *decoder;
    (void)args;
    int status = graft_decoder_config_keep(config, traits, sink, &decoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t hidden = decoder->hidden_size;
    int64_t q_size = decoder->num_attention_heads * decoder->head_dim;
    int64_t kv_size = decoder->num_key_value_heads * decoder->head_dim;
    const struct {
        const char *name;
        int64_t in_features;
        int64_t out_features;
        int32_t bias;
    } linears[] = {
        {"q_proj", hidden, q_size, decoder->qkv_bias},
        {"k_proj", hidden, kv_size, decoder->qkv_bias},
        {"v_proj", hidden, kv_size, decoder->qkv_bias},
        {"o_proj", q_size, hidden, traits->o_proj_bias && decoder->qkv_bias},
    };
    for (size_t i = 0; i < sizeof linears / sizeof linears[0] && status == GRAFT_OK; i++) {
        status = graft_describe_linear(sink, linears[i].name, linears[i].in_features, linears[i].out_features,
                                       linears[i].bias, error);
    }
    const char *const norms[] = {"q_norm", "k_norm"};
    const struct graft_arg norm_args[] = {graft_int_arg("hidden_size", decoder->head_dim)};
    for (size_t i = 0; traits->query_key_norm && i < 2 && status == GRAFT_OK; i++) {
        status = graft_describe_child(sink, norms[i], traits->rms_norm, GRAFT_INTERFACE_NORM, norm_args, 1, error);
    }
    return status;
}

/* The layer's number is an index into the KV cache. */
static int check_layer(const struct graft_build *build, int64_t layer, int64_t layers, struct graft_error *error) {
    if (layer >= 0 && layer < layers) {
        return GRAFT_OK;
    }
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, build->path,
                           "argument layer_idx: expected 0 to %lld from the parent, got %lld", (long long)layers - 1,
                           (long long)layer);
}

int graft_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct graft_decoder_traits *traits = cls->data;
    const struct graft_decoder_config *decoder = build->kept;
    int64_t layer = graft_args_int(build->args, "layer_idx", -1);
    int status = check_layer(build, layer, decoder->num_hidden_layers, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct attention *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->layer = (int32_t)layer;
    self->heads = decoder->num_attention_heads;
    self->kv_heads = decoder->num_key_value_heads;
    self->head_dim = decoder->head_dim;
    self->scaling = (float)(1.0 / sqrt((double)decoder->head_dim));
    self->q_proj = graft_build_child(build, "q_proj", &status, error);
    self->k_proj = graft_build_child(build, "k_proj", &status, error);
    self->v_proj = graft_build_child(build, "v_proj", &status, error);
    self->o_proj = graft_build_child(build, "o_proj", &status, error);
    if (traits->query_key_norm) {
        self->q_norm = graft_build_child(build, "q_norm", &status, error);
        self->k_norm = graft_build_child(build, "k_norm", &status, error);
    }
    return graft_instance_finish(self, status, instance);
}

/* Queries, keys and values of a batch. */
struct projected {
    float *q; /* [tokens, heads, head_dim] */
    float *k; /* [tokens, kv_heads, head_dim] */
    float *v; /* [tokens, kv_heads, head_dim] */
};

static int project(const struct attention *self, const struct graft_call *call,
                   const struct graft_self_attention_args *args, struct projected *out, struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    out->q = graft_scratch_floats(call, tokens, self->heads * self->head_dim, error);
    out->k = graft_scratch_floats(call, tokens, self->kv_heads * self->head_dim, error);
    out->v = graft_scratch_floats(call, tokens, self->kv_heads * self->head_dim, error);
    if (out->q == NULL || out->k == NULL || out->v == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_module *projections[] = {self->q_proj, self->k_proj, self->v_proj};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, out->q},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, out->k},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, out->v},
    };
    return graft_linear_forward_all(projections, call, projection_args, 3, error);
}

/* Norms each head by itself: *x [rows, head_dim], where a row is one head of one token, becomes its normed copy. */
static int norm_heads(const struct graft_module *norm, const struct graft_call *call, float **x, int64_t rows,
                      int64_t head_dim, struct graft_error *error) {
    float *normed = graft_scratch_floats(call, rows, head_dim, error);
    const struct graft_norm_args args = {sizeof args, 0, rows, *x, NULL, normed};
    if (normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *x = normed;
    return graft_norm_forward(norm, call, &args, error);
}

/* context [tokens, heads, head_dim] = attention of the rotated queries and keys. */
static int attend(const struct attention *self, const struct graft_call *call,
                  const struct graft_self_attention_args *args, const struct projected *in, float *context,
                  struct graft_error *error) {
    int64_t tokens = args->batch->tokens;
    int64_t q_size = self->heads * self->head_dim;
    int64_t kv_size = self->kv_heads * self->head_dim;
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .layer = self->layer,
        .batch = args->batch,
        .mask = args->mask,
        .heads = self->heads,
        .kv_heads = self->kv_heads,
        .head_dim = self->head_dim,
        .scaling = self->scaling,
        .q = in->q,
        .q_stride = q_size,
        .k = in->k,
        .k_stride = kv_size,
        .v = in->v,
        .v_stride = kv_size,
        .output = context,
        .output_stride = q_size,
    };
    int status =
        call->kernels->rope(call, in->q, q_size, tokens, self->heads, self->head_dim, args->cos, args->sin, error);
    if (status == GRAFT_OK) {
        status = call->kernels->rope(call, in->k, kv_size, tokens, self->kv_heads, self->head_dim, args->cos, args->sin,
                                     error);
    }
    return status == GRAFT_OK ? call->kernels->attention(call, &attention_args, error) : status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct attention *self = instance;
    int64_t tokens = args->batch->tokens;
    struct projected projected;
    float *context = graft_scratch_floats(call, tokens, self->heads * self->head_dim, error);
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, context, args->output};
    if (context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = project(self, call, args, &projected, error);
    if (status == GRAFT_OK && self->q_norm != NULL) {
        status = norm_heads(self->q_norm, call, &projected.q, tokens * self->heads, self->head_dim, error);
    }
    if (status == GRAFT_OK && self->k_norm != NULL) {
        status = norm_heads(self->k_norm, call, &projected.k, tokens * self->kv_heads, self->head_dim, error);
    }
    if (status == GRAFT_OK) {
        status = attend(self, call, args, &projected, context, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->o_proj, call, &output_args, error) : status;
}

const struct graft_self_attention graft_attention_vtable = {
    .struct_size = sizeof graft_attention_vtable,
    .forward = forward,
};
