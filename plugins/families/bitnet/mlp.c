/* SPDX-License-Identifier: Apache-2.0 */
/* down(norm(act(gate(x)) * up(x))): Llama's MLP with a norm before the last projection. */
#include "graft/describe.h"
#include "graft/linear.h"
#include "graft/parts.h"

#include "bitnet.h"

struct mlp {
    struct graft_instance base;
    const struct graft_module *gate_proj; /* hidden_size -> intermediate_size */
    const struct graft_module *up_proj;   /* hidden_size -> intermediate_size */
    const struct graft_module *down_proj; /* intermediate_size -> hidden_size */
    const struct graft_module *act_fn;
    const struct graft_module *ffn_sub_norm;
    int64_t intermediate_size;
};

/* The host knows the other activations. */
static int describe_activation(const struct graft_config *config, const struct graft_args *args,
                               const struct graft_sink *sink, struct graft_error *error) {
    const char *act = graft_args_string(args, "hidden_act", NULL);
    int status = act == NULL ? graft_config_string(config, "hidden_act", &act, error) : GRAFT_OK;
    if (status == GRAFT_OK && act != NULL && strcmp(act, "relu2") == 0) {
        return graft_describe_child(sink, "act_fn", "ReLUSquaredActivation", GRAFT_INTERFACE_ACTIVATION, NULL, 0,
                                    error);
    }
    return status == GRAFT_OK ? graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error) : status;
}

int bitnet_mlp_describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                        const struct graft_sink *sink, struct graft_error *error) {
    int64_t hidden_size = 0;
    int64_t inner = 0;
    (void)cls;
    int status = graft_args_size(args, "hidden_size", GRAFT_PARTS_MAX_SIZE, sink->path, &hidden_size, error);
    if (status == GRAFT_OK) {
        status = graft_args_size(args, "intermediate_size", GRAFT_PARTS_MAX_SIZE, sink->path, &inner, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "gate_proj", hidden_size, inner, 0, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "up_proj", hidden_size, inner, 0, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "down_proj", inner, hidden_size, 0, error);
    }
    if (status == GRAFT_OK) {
        status = describe_activation(config, args, sink, error);
    }
    double eps = 1e-5;
    if (status == GRAFT_OK) {
        status = graft_config_real_from(config, "rms_norm_eps", 0.0, &eps, error);
    }
    return status == GRAFT_OK ? graft_describe_norm(sink, "ffn_sub_norm", "BitNetRMSNorm", inner, eps, error) : status;
}

int bitnet_mlp_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                      struct graft_error *error) {
    int status = GRAFT_OK;
    (void)cls;
    struct mlp *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->intermediate_size = graft_args_int(build->args, "intermediate_size", 0);
    self->gate_proj = graft_build_child(build, "gate_proj", &status, error);
    self->up_proj = graft_build_child(build, "up_proj", &status, error);
    self->down_proj = graft_build_child(build, "down_proj", &status, error);
    self->act_fn = graft_build_child(build, "act_fn", &status, error);
    self->ffn_sub_norm = graft_build_child(build, "ffn_sub_norm", &status, error);
    return graft_instance_finish(self, status, instance);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct mlp *self = instance;
    const int64_t inner = self->intermediate_size;
    float *gate = graft_scratch_floats(call, args->tokens, inner, error); /* [tokens, intermediate_size] */
    float *up = graft_scratch_floats(call, args->tokens, inner, error);   /* likewise, and what is normed */
    const struct graft_module *projections[] = {self->gate_proj, self->up_proj};
    const struct graft_linear_args in_args[] = {
        {sizeof in_args[0], 0, args->tokens, args->hidden_states, gate},
        {sizeof in_args[0], 0, args->tokens, args->hidden_states, up},
    };
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, args->tokens, gate, NULL, up};
    const struct graft_linear_args out_args = {sizeof out_args, 0, args->tokens, up, args->output};
    if (gate == NULL || up == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward_all(projections, call, in_args, 2, error);
    if (status == GRAFT_OK) {
        status = graft_activation_gate(self->act_fn, call, gate, up, args->tokens, inner, error);
    }
    if (status == GRAFT_OK) {
        status = graft_norm_forward(self->ffn_sub_norm, call, &norm_args, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->down_proj, call, &out_args, error) : status;
}

const struct graft_mlp bitnet_mlp_vtable = {
    .struct_size = sizeof bitnet_mlp_vtable,
    .forward = forward,
};
