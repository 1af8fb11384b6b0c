/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a block: LayerNorm(dense(x) + residual). */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct residual_output {
    struct graft_instance base;
    const struct graft_module *dense; /* in_features -> hidden_size */
    const struct graft_module *norm;
    int64_t hidden_size;
};

int graft_residual_output_describe(const struct graft_class *self, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    const struct graft_encoder_config *encoder;
    int status = graft_encoder_config_keep(config, self->data, sink, &encoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t in_features = graft_args_int(args, "in_features", 0);
    status = graft_describe_linear(sink, "dense", in_features, encoder->hidden_size, 1, error);
    return status == GRAFT_OK
               ? graft_describe_layer_norm(sink, "LayerNorm", encoder->hidden_size, encoder->layer_norm_eps, error)
               : status;
}

int graft_residual_output_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                 struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    (void)cls;
    struct residual_output *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = encoder->hidden_size;
    self->dense = graft_build_child(build, "dense", error);
    self->norm = graft_build_child(build, "LayerNorm", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_residual_output_args *args,
                   struct graft_error *error) {
    const struct residual_output *self = instance;
    float *sum = graft_scratch_floats(call, args->tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_linear_args dense_args = {sizeof dense_args, 0, args->tokens, args->hidden_states, sum};
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, args->tokens, sum, args->residual, args->output};
    if (sum == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->dense, call, &dense_args, error);
    return status == GRAFT_OK ? graft_norm_forward(self->norm, call, &norm_args, error) : status;
}

const struct graft_residual_output graft_residual_output_vtable = {
    .struct_size = sizeof graft_residual_output_vtable,
    .forward = forward,
};
