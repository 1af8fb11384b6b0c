/* SPDX-License-Identifier: Apache-2.0 */
/* Cross attention to an encoder's output (Vaswani et al. 2017, 3.2.3). Keys and values are computed when a sequence
 * brings its source text, and kept for all of its tokens. */
#include "arch/decoder/attention_keep.h"
#include "arch/decoder/choices.h"
#include "arch/role.h"
#include "graft/describe.h"

struct cross_attention {
    struct graft_instance base;
    struct graft_parts_attention_sizes sizes;
    const struct graft_module *q; /* hidden_size -> heads * head_dim */
    const struct graft_module
        *k; /* hidden_size -> kv_heads * head_dim; applied to the encoder's hidden states, like v */
    const struct graft_module *v;      /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *output; /* heads * head_dim -> hidden_size */
};

int graft_cross_attention_describe(const struct graft_class *self, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    const struct graft_description *description = self->data;
    struct graft_reader reader;
    const struct graft_parts_attention_sizes *sizes =
        graft_attention_keep(self, config, args, sink, sizeof *sizes, &reader, error);
    if (sizes == NULL) {
        return error->code;
    }
    const int32_t k_bias = graft_read_is_null(&reader, D_K_BIAS) ? sizes->qkv_bias : graft_read_bool(&reader, D_K_BIAS);
    const int64_t kv_size = sizes->kv_heads * sizes->head_dim;
    const struct {
        int32_t name;
        int64_t from;
        int64_t to;
        int32_t bias;
    } projections[] = {{D_QUERY, sizes->hidden_size, sizes->heads * sizes->head_dim, sizes->qkv_bias},
                       {D_KEY, sizes->hidden_size, kv_size, k_bias},
                       {D_VALUE, sizes->hidden_size, kv_size, sizes->qkv_bias},
                       {D_OUTPUT, sizes->heads * sizes->head_dim, sizes->hidden_size, sizes->o_proj_bias}};
    int status = reader.status;
    for (size_t i = 0; i < sizeof projections / sizeof projections[0] && status == GRAFT_OK; i++) {
        status = graft_describe_linear(sink, graft_description_name(description, projections[i].name),
                                       projections[i].from, projections[i].to, projections[i].bias, error);
    }
    return status;
}

int graft_cross_attention_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                 struct graft_error *error) {
    const struct graft_description *description = cls->data;
    const struct graft_parts_attention_sizes *sizes = build->kept;
    struct cross_attention *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    self->q = graft_build_child(build, graft_description_name(description, D_QUERY), error);
    self->k = graft_build_child(build, graft_description_name(description, D_KEY), error);
    self->v = graft_build_child(build, graft_description_name(description, D_VALUE), error);
    self->output = graft_build_child(build, graft_description_name(description, D_OUTPUT), error);
    return graft_instance_finish(self, instance, error);
}

/* Computes k and v [source tokens, kv_heads, head_dim] from the encoder's hidden states. The call's row adapters are
 * for the decoder's tokens; here each source token has the adapter of its sequence. */
static int project_sources(const struct cross_attention *self, const struct graft_call *call,
                           const struct graft_batch *batch, float *k, float *v, struct graft_error *error) {
    const int64_t tokens = graft_batch_source_tokens(batch);
    const struct graft_module *projections[] = {self->k, self->v};
    const struct graft_linear_args args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, batch->source_states, k},
        {sizeof(struct graft_linear_args), 0, tokens, batch->source_states, v},
    };
    struct graft_gathered_call space;
    if (tokens == 0) {
        return GRAFT_OK;
    }
    if (batch->source_states == NULL) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "", "no encoder has run before its decoder");
    }
    const struct graft_call *own = graft_parts_source_call(call, batch, &space, error);
    return own != NULL ? graft_linear_forward_all(projections, own, args, 2, error) : GRAFT_ERROR_INTERNAL;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct cross_attention *self = instance;
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const struct graft_batch *batch = args->batch;
    const int64_t q_size = sizes->heads * sizes->head_dim, kv_size = sizes->kv_heads * sizes->head_dim;
    const int64_t source_tokens = graft_batch_source_tokens(batch);
    float *q = graft_scratch_floats(call, batch->tokens, q_size, error);
    float *k = graft_scratch_floats(call, source_tokens, kv_size, error);
    float *v = graft_scratch_floats(call, source_tokens, kv_size, error);
    float *context = graft_scratch_floats(call, batch->tokens, q_size, error); /* [tokens, heads, head_dim] */
    if (q == NULL || k == NULL || v == NULL || context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_linear_args q_args = {sizeof q_args, 0, batch->tokens, args->hidden_states, q};
    const struct graft_linear_args output_args = {sizeof output_args, 0, batch->tokens, context, args->output};
    const struct graft_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .batch = batch,
        .mask = args->mask,
        .layer = sizes->layer,
        .heads = sizes->heads,
        .kv_heads = sizes->kv_heads,
        .head_dim = sizes->head_dim,
        .scaling = (float)sizes->scaling,
        .softcap = (float)sizes->softcap,
        .q = q,
        .q_stride = q_size,
        .k = k,
        .k_stride = kv_size,
        .v = v,
        .v_stride = kv_size,
        .output = context,
        .output_stride = q_size,
        .cross = 1,
    };
    int status = graft_linear_forward(self->q, call, &q_args, error);
    if (status == GRAFT_OK) {
        status = project_sources(self, call, batch, k, v, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->attention(call, &attention_args, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->output, call, &output_args, error) : status;
}

const struct graft_self_attention graft_cross_attention_vtable = {
    .struct_size = sizeof graft_cross_attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_CROSS,
    .forward = forward,
};
