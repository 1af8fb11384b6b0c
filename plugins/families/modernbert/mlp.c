/* SPDX-License-Identifier: Apache-2.0 */
/* Wo(act(input) * gate), where Wi makes input and gate at once (Shazeer 2020, GeGLU). */
#include "graft/describe.h"
#include "modernbert.h"

struct mlp {
    struct graft_instance base;
    const struct graft_module *Wi; /* hidden_size -> 2 * intermediate_size */
    const struct graft_module *act;
    const struct graft_module *Wo; /* intermediate_size -> hidden_size */
    int64_t intermediate_size;
};

int modernbert_mlp_describe(const struct graft_class *self, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int32_t bias = graft_args_int(args, "mlp_bias", 0) != 0;
    int64_t hidden_size = 0;
    int64_t inner = 0;
    (void)self;
    int status = graft_args_size(args, "hidden_size", GRAFT_PARTS_MAX_SIZE, sink->path, &hidden_size, error);
    if (status == GRAFT_OK) {
        status = graft_args_size(args, "intermediate_size", GRAFT_PARTS_MAX_SIZE, sink->path, &inner, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "Wi", hidden_size, 2 * inner, bias, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_activation(sink, "act", config, args, "hidden_act", error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, "Wo", inner, hidden_size, bias, error) : status;
}

int modernbert_mlp_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    (void)cls;
    struct mlp *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->intermediate_size = graft_args_int(build->args, "intermediate_size", 0);
    self->Wi = graft_build_child(build, "Wi", error);
    self->act = graft_build_child(build, "act", error);
    self->Wo = graft_build_child(build, "Wo", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct mlp *self = instance;
    int64_t inner = self->intermediate_size;
    float *both = graft_scratch_floats(call, args->tokens, 2 * inner, error); /* [tokens, 2, intermediate_size] */
    float *input = graft_scratch_floats(call, args->tokens, inner, error);    /* [tokens, intermediate_size] */
    float *gate = graft_scratch_floats(call, args->tokens, inner, error);     /* likewise */
    const struct graft_linear_args in_args = {sizeof in_args, 0, args->tokens, args->hidden_states, both};
    const struct graft_linear_args out_args = {sizeof out_args, 0, args->tokens, input, args->output};
    if (both == NULL || input == NULL || gate == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->Wi, call, &in_args, error);
    for (int64_t t = 0; t < args->tokens && status == GRAFT_OK; t++) {
        memcpy(input + t * inner, both + 2 * t * inner, (size_t)inner * sizeof *input);
        memcpy(gate + t * inner, both + (2 * t + 1) * inner, (size_t)inner * sizeof *gate);
    }
    if (status == GRAFT_OK) {
        status = graft_activation_gate(self->act, call, input, gate, args->tokens, inner, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->Wo, call, &out_args, error) : status;
}

const struct graft_mlp modernbert_mlp_vtable = {
    .struct_size = sizeof modernbert_mlp_vtable,
    .forward = forward,
};
