/* SPDX-License-Identifier: Apache-2.0 */
/* What stands before a masked model's decoder: LayerNorm(act(dense(x))). */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct prediction_transform {
    struct graft_instance base;
    const struct graft_module *dense; /* hidden_size -> hidden_size */
    const struct graft_module *act;
    const struct graft_module *norm;
    int64_t hidden_size;
};

int graft_prediction_transform_describe(const struct graft_class *self, const struct graft_config *config,
                                        const struct graft_args *args, const struct graft_sink *sink,
                                        struct graft_error *error) {
    const struct graft_encoder_config *encoder;
    (void)args;
    int status = graft_encoder_config_keep(config, self->data, sink, &encoder, error);
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "dense", encoder->hidden_size, encoder->hidden_size, 1, error);
    }
    if (status == GRAFT_OK) {
        status = graft_encoder_describe_activation(sink, "transform_act_fn", config, error);
    }
    return status == GRAFT_OK
               ? graft_describe_layer_norm(sink, "LayerNorm", encoder->hidden_size, encoder->layer_norm_eps, error)
               : status;
}

int graft_prediction_transform_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                      struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    (void)cls;
    struct prediction_transform *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = encoder->hidden_size;
    self->dense = graft_build_child(build, "dense", error);
    self->act = graft_build_child(build, "transform_act_fn", error);
    self->norm = graft_build_child(build, "LayerNorm", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_transform_args *args,
                   struct graft_error *error) {
    const struct prediction_transform *self = instance;
    float *hidden = graft_scratch_floats(call, args->tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_linear_args dense_args = {sizeof dense_args, 0, args->tokens, args->hidden_states, hidden};
    const struct graft_activation_args act_args = {sizeof act_args, 0, args->tokens * self->hidden_size, hidden,
                                                   hidden};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, args->tokens, hidden, NULL, args->output};
    if (hidden == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->dense, call, &dense_args, error);
    if (status == GRAFT_OK) {
        status = graft_activation_forward(self->act, call, &act_args, error);
    }
    return status == GRAFT_OK ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}

const struct graft_transform graft_prediction_transform_vtable = {
    .struct_size = sizeof graft_prediction_transform_vtable,
    .forward = forward,
};
