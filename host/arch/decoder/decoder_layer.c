/* SPDX-License-Identifier: Apache-2.0 */
/* One layer: attention and MLP, each after a norm, with its input added to its output. */
#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct decoder_layer {
    struct graft_instance base;
    const struct graft_module *self_attn;
    const struct graft_module *mlp; /* dense, or with experts */
    const struct graft_module *input_layernorm;
    const struct graft_module *post_attention_layernorm;
    int64_t hidden_size;
    uint32_t attention_features;
};

int graft_decoder_layer_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error) {
    const struct graft_decoder_traits *traits = self->data;
    int32_t sparse = 0;
    int status = graft_decoder_config_sparse(config, traits, graft_args_int(args, "layer_idx", 0), &sparse, error);
    if (status == GRAFT_OK) {
        status =
            graft_describe_given(sink, "self_attn", traits->attention, GRAFT_INTERFACE_SELF_ATTENTION, args, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_given(sink, "mlp", sparse ? traits->sparse_moe_block : traits->mlp, GRAFT_INTERFACE_MLP,
                                      args, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_given(sink, "input_layernorm", traits->rms_norm, GRAFT_INTERFACE_NORM, args, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_describe_given(sink, "post_attention_layernorm", traits->rms_norm, GRAFT_INTERFACE_NORM, args, error);
    }
    return status;
}

int graft_decoder_layer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                               struct graft_error *error) {
    int status = GRAFT_OK;
    (void)cls;
    struct decoder_layer *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->attention_features = graft_self_attention_features(build->args);
    self->self_attn = graft_build_child(build, "self_attn", &status, error);
    self->mlp = graft_build_child(build, "mlp", &status, error);
    self->input_layernorm = graft_build_child(build, "input_layernorm", &status, error);
    self->post_attention_layernorm = graft_build_child(build, "post_attention_layernorm", &status, error);
    return graft_instance_finish(self, status, instance);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error) {
    const struct decoder_layer *self = instance;
    int64_t tokens = args->batch->tokens;
    float *normed = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden] */
    float *output = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden] */
    if (normed == NULL || output == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    /* The second norm adds the attention's output to hidden_states before it norms them. */
    const struct graft_norm_args first = {sizeof first, 0, tokens, args->hidden_states, NULL, normed};
    const struct graft_norm_args second = {sizeof second, 0, tokens, args->hidden_states, output, normed};
    const struct graft_mlp_args mlp_args = {sizeof mlp_args, 0, tokens, normed, output};
    const struct graft_self_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .required_features = self->attention_features,
        .batch = args->batch,
        .hidden_states = normed,
        .cos = args->cos,
        .sin = args->sin,
        .mask = args->mask,
        .output = output,
    };
    int status = graft_norm_forward(self->input_layernorm, call, &first, error);
    if (status == GRAFT_OK) {
        status = graft_self_attention_forward(self->self_attn, call, &attention_args, error);
    }
    if (status == GRAFT_OK) {
        status = graft_norm_forward(self->post_attention_layernorm, call, &second, error);
    }
    if (status == GRAFT_OK) {
        status = graft_mlp_forward(self->mlp, call, &mlp_args, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->add(call, args->hidden_states, output, tokens * self->hidden_size, error);
    }
    return status;
}

const struct graft_decoder_layer graft_decoder_layer_vtable = {
    .struct_size = sizeof graft_decoder_layer_vtable,
    .forward = forward,
};
