/* SPDX-License-Identifier: Apache-2.0 */
/* The wide part between two blocks: act(dense(x)). */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct intermediate {
    struct graft_instance base;
    const struct graft_module *dense; /* hidden_size -> intermediate_size */
    const struct graft_module *act;
    int64_t intermediate_size;
};

int graft_intermediate_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    const struct graft_encoder_config *encoder;
    (void)args;
    int status = graft_encoder_config_keep(config, self->data, sink, &encoder, error);
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "dense", encoder->hidden_size, encoder->intermediate_size, 1, error);
    }
    return status == GRAFT_OK ? graft_encoder_describe_activation(sink, "intermediate_act_fn", config, error) : status;
}

int graft_intermediate_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    (void)cls;
    struct intermediate *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->intermediate_size = encoder->intermediate_size;
    self->dense = graft_build_child(build, "dense", error);
    self->act = graft_build_child(build, "intermediate_act_fn", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_transform_args *args,
                   struct graft_error *error) {
    const struct intermediate *self = instance;
    const struct graft_linear_args dense_args = {sizeof dense_args, 0, args->tokens, args->hidden_states, args->output};
    const struct graft_activation_args act_args = {sizeof act_args, 0, args->tokens * self->intermediate_size,
                                                   args->output, args->output};
    int status = graft_linear_forward(self->dense, call, &dense_args, error);
    return status == GRAFT_OK ? graft_activation_forward(self->act, call, &act_args, error) : status;
}

const struct graft_transform graft_intermediate_vtable = {
    .struct_size = sizeof graft_intermediate_vtable,
    .forward = forward,
};
