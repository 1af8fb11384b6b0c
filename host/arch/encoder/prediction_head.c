/* SPDX-License-Identifier: Apache-2.0 */
/* A transform, and a Linear onto the vocabulary whose weight is most often that of the word embeddings. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct prediction_head {
    struct graft_instance base;
    const struct graft_module *transform; /* hidden_size -> hidden_size */
    const struct graft_module *decoder;   /* hidden_size -> out_features */
    int64_t hidden_size;
};

int graft_prediction_head_describe(const struct graft_class *self, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    const struct graft_encoder_traits *traits = self->data;
    const struct graft_encoder_config *encoder;
    int status = graft_encoder_config_keep(config, traits, sink, &encoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t out_features = graft_args_int(args, "out_features", 0);
    const struct graft_arg transform_args[] = {graft_int_arg("in_features", encoder->hidden_size),
                                               graft_int_arg("out_features", encoder->hidden_size)};
    status = graft_describe_child(sink, "transform", traits->prediction_transform, GRAFT_INTERFACE_TRANSFORM,
                                  transform_args, 2, error);
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "decoder", encoder->hidden_size, out_features, 1, error);
    }
    /* Not read here: it is where checkpoints keep the decoder's bias, which is tied to it. */
    return status == GRAFT_OK ? graft_describe_parameter(sink, "bias", 1, &out_features, 0, GRAFT_INIT_NONE, error)
                              : status;
}

int graft_prediction_head_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                 struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    (void)cls;
    struct prediction_head *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = encoder->hidden_size;
    self->transform = graft_build_child(build, "transform", error);
    self->decoder = graft_build_child(build, "decoder", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_head_args *args,
                   struct graft_error *error) {
    const struct prediction_head *self = instance;
    float *hidden = graft_scratch_floats(call, args->tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_transform_args transform_args = {sizeof transform_args, 0, args->tokens, args->hidden_states,
                                                        hidden};
    const struct graft_linear_args decoder_args = {sizeof decoder_args, 0, args->tokens, hidden, args->logits};
    if (hidden == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_transform_forward(self->transform, call, &transform_args, error);
    return status == GRAFT_OK ? graft_linear_forward(self->decoder, call, &decoder_args, error) : status;
}

const struct graft_head graft_prediction_head_vtable = {
    .struct_size = sizeof graft_prediction_head_vtable,
    .forward = forward,
};
