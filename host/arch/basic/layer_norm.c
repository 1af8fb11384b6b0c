/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/pass.h"
#include "arch/role.h"
#include "graft/describe.h"

struct layer_norm {
    struct graft_instance base;
    const struct graft_weight *weight; /* [hidden_size] */
    const struct graft_weight *bias;   /* [hidden_size]; NULL: none */
    float eps;
};

/* Checkpoints converted from TensorFlow use its names. */
static const char *const gamma_sources[] = {"gamma"};
static const char *const weight_targets[] = {"weight"};
static const char *const beta_sources[] = {"beta"};
static const char *const bias_targets[] = {"bias"};
const struct graft_conversion graft_layer_norm_conversions[GRAFT_LAYER_NORM_CONVERSIONS] = {
    GRAFT_RENAMING(gamma_sources, weight_targets),
    GRAFT_RENAMING(beta_sources, bias_targets),
};

int graft_layer_norm_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t hidden_size = graft_args_int(args, "hidden_size", 0);
    (void)self;
    (void)config;
    graft_describe_number(sink, "normalized_shape", hidden_size, error);
    graft_describe_vector(sink, "weight", hidden_size, error);
    if (graft_args_int(args, "bias", 1) != 0) {
        graft_describe_vector(sink, "bias", hidden_size, error);
    }
    return error->code;
}

int graft_layer_norm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    struct layer_norm *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->eps = (float)graft_args_real(build->args, "eps", 1e-5);
    self->weight = graft_build_weight(build, "weight", error);
    self->bias = build->weight(build->data, "bias");
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_norm_args *args,
                   struct graft_error *error) {
    const struct layer_norm *self = instance;
    const struct graft_pass pass = {call, args->tokens, error};
    const int64_t hidden = self->weight->rows;
    if (args->residual != NULL) {
        graft_pass_add(&pass, args->hidden_states, args->residual, hidden);
    }
    return graft_pass_ok(&pass)
               ? call->kernels->layer_norm(call, self->weight, self->bias, self->eps, args->hidden_states, hidden,
                                           args->tokens, hidden, args->output, hidden, error)
               : error->code;
}

const struct graft_norm graft_layer_norm_vtable = {.struct_size = sizeof graft_layer_norm_vtable, .forward = forward};
