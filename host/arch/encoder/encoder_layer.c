/* SPDX-License-Identifier: Apache-2.0 */
/* One layer: attention with its norm, then the wide part with its norm (post-norm, as in the Transformer of 2017). */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct encoder_layer {
    struct graft_instance base;
    const struct graft_module *attention;
    const struct graft_module *intermediate; /* hidden_size -> intermediate_size */
    const struct graft_module *output;       /* intermediate_size -> hidden_size */
    int64_t hidden_size;
    int64_t intermediate_size;
};

int graft_encoder_layer_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error) {
    const struct graft_encoder_traits *traits = self->data;
    const struct graft_encoder_config *encoder;
    int status = graft_encoder_config_keep(config, traits, sink, &encoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg attention_args[] = {graft_int_arg("layer_idx", graft_args_int(args, "layer_idx", 0))};
    const struct graft_arg intermediate_args[] = {graft_int_arg("in_features", encoder->hidden_size),
                                                  graft_int_arg("out_features", encoder->intermediate_size)};
    const struct graft_arg output_args[] = {graft_int_arg("in_features", encoder->intermediate_size)};
    status = graft_describe_child(sink, "attention", traits->attention, GRAFT_INTERFACE_ATTENTION_BLOCK, attention_args,
                                  1, error);
    if (status == GRAFT_OK) {
        status = graft_describe_child(sink, "intermediate", traits->intermediate, GRAFT_INTERFACE_TRANSFORM,
                                      intermediate_args, 2, error);
    }
    return status == GRAFT_OK ? graft_describe_child(sink, "output", traits->output, GRAFT_INTERFACE_RESIDUAL_OUTPUT,
                                                     output_args, 1, error)
                              : status;
}

int graft_encoder_layer_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                               struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    (void)cls;
    struct encoder_layer *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = encoder->hidden_size;
    self->intermediate_size = encoder->intermediate_size;
    self->attention = graft_build_child(build, "attention", error);
    self->intermediate = graft_build_child(build, "intermediate", error);
    self->output = graft_build_child(build, "output", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_encoder_layer_args *args,
                   struct graft_error *error) {
    const struct encoder_layer *self = instance;
    int64_t tokens = args->batch->tokens;
    float *attended = graft_scratch_floats(call, tokens, self->hidden_size, error);   /* [tokens, hidden_size] */
    float *wide = graft_scratch_floats(call, tokens, self->intermediate_size, error); /* [tokens, intermediate_size] */
    if (attended == NULL || wide == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_attention_block_args attention_args = {
        .struct_size = sizeof attention_args,
        .batch = args->batch,
        .hidden_states = args->hidden_states,
        .cos = args->cos,
        .sin = args->sin,
        .mask = args->mask,
        .output = attended,
    };
    const struct graft_transform_args intermediate_args = {sizeof intermediate_args, 0, tokens, attended, wide};
    const struct graft_residual_output_args output_args = {
        sizeof output_args, 0, tokens, wide, attended, args->hidden_states,
    };
    int status = graft_attention_block_forward(self->attention, call, &attention_args, error);
    if (status == GRAFT_OK) {
        status = graft_transform_forward(self->intermediate, call, &intermediate_args, error);
    }
    return status == GRAFT_OK ? graft_residual_output_forward(self->output, call, &output_args, error) : status;
}

const struct graft_encoder_layer graft_encoder_layer_vtable = {
    .struct_size = sizeof graft_encoder_layer_vtable,
    .forward = forward,
};
