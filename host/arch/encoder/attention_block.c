/* SPDX-License-Identifier: Apache-2.0 */
/* Self-attention, its output projection, the residual and the norm. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct attention_block {
    struct graft_instance base;
    const struct graft_module *self_attention;
    const struct graft_module *output;
    int64_t hidden_size;
};

int graft_attention_block_describe(const struct graft_class *self, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    const struct graft_encoder_traits *traits = self->data;
    const struct graft_encoder_config *encoder;
    int status = graft_encoder_config_keep(config, traits, sink, &encoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg attention_args[] = {
        graft_int_arg("layer_idx", graft_args_int(args, "layer_idx", 0)),
        graft_int_arg("hidden_size", encoder->hidden_size),
        graft_int_arg("num_attention_heads", encoder->num_attention_heads),
        graft_int_arg("num_key_value_heads", encoder->num_attention_heads),
        graft_int_arg("head_dim", encoder->hidden_size / encoder->num_attention_heads),
        graft_int_arg("qkv_bias", 1),
        graft_int_arg("o_proj", 0),
    };
    const struct graft_arg output_args[] = {graft_int_arg("in_features", encoder->hidden_size)};
    status = graft_describe_child(sink, "self", traits->self_attention, GRAFT_INTERFACE_SELF_ATTENTION, attention_args,
                                  sizeof attention_args / sizeof attention_args[0], error);
    return status == GRAFT_OK ? graft_describe_child(sink, "output", traits->self_output,
                                                     GRAFT_INTERFACE_RESIDUAL_OUTPUT, output_args, 1, error)
                              : status;
}

int graft_attention_block_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                 struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    (void)cls;
    struct attention_block *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = encoder->hidden_size;
    self->self_attention = graft_build_child(build, "self", error);
    self->output = graft_build_child(build, "output", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_attention_block_args *args,
                   struct graft_error *error) {
    const struct attention_block *self = instance;
    int64_t tokens = args->batch->tokens;
    float *context = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    if (context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_self_attention_args attention_args = {
        .struct_size = sizeof attention_args,
        .batch = args->batch,
        .hidden_states = args->hidden_states,
        .cos = args->cos,
        .sin = args->sin,
        .mask = args->mask,
        .output = context,
    };
    const struct graft_residual_output_args output_args = {
        sizeof output_args, 0, tokens, context, args->hidden_states, args->output,
    };
    int status = graft_self_attention_forward(self->self_attention, call, &attention_args, error);
    return status == GRAFT_OK ? graft_residual_output_forward(self->output, call, &output_args, error) : status;
}

const struct graft_attention_block graft_attention_block_vtable = {
    .struct_size = sizeof graft_attention_block_vtable,
    .forward = forward,
};
