/* SPDX-License-Identifier: Apache-2.0 */
/* down_proj(act_fn(gate_proj(x)) * up_proj(x)), Shazeer 2020. */
#include "arch/role.h"
#include "graft/describe.h"

struct mlp {
    struct graft_instance base;
    const struct graft_module *gate_proj; /* hidden_size -> intermediate_size */
    const struct graft_module *up_proj;   /* hidden_size -> intermediate_size */
    const struct graft_module *down_proj; /* intermediate_size -> hidden_size */
    const struct graft_module *act_fn;
    int64_t intermediate_size;
};

int graft_mlp_describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                       const struct graft_sink *sink, struct graft_error *error) {
    int64_t hidden = graft_args_int(args, "hidden_size", 0);
    int32_t bias = graft_args_int(args, "mlp_bias", 0) != 0;
    int64_t *intermediate = sink->keep(sink->data, sizeof *intermediate, error);
    (void)self;
    if (intermediate == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *intermediate = graft_args_int(args, "intermediate_size", 0);
    int status = graft_describe_linear(sink, "gate_proj", hidden, *intermediate, bias, error);
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "up_proj", hidden, *intermediate, bias, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, "down_proj", *intermediate, hidden, bias, error);
    }
    return status == GRAFT_OK ? graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error) : status;
}

int graft_mlp_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                     struct graft_error *error) {
    const int64_t *intermediate = build->kept;
    int status = GRAFT_OK;
    (void)cls;
    struct mlp *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->intermediate_size = *intermediate;
    self->gate_proj = graft_build_child(build, "gate_proj", &status, error);
    self->up_proj = graft_build_child(build, "up_proj", &status, error);
    self->down_proj = graft_build_child(build, "down_proj", &status, error);
    self->act_fn = graft_build_child(build, "act_fn", &status, error);
    return graft_instance_finish(self, status, instance);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct mlp *self = instance;
    int64_t tokens = args->tokens;
    float *gate = graft_scratch_floats(call, tokens, self->intermediate_size, error); /* [tokens, intermediate_size] */
    float *up = graft_scratch_floats(call, tokens, self->intermediate_size, error);   /* [tokens, intermediate_size] */
    if (gate == NULL || up == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_module *projections[] = {self->gate_proj, self->up_proj};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, gate},
        {sizeof(struct graft_linear_args), 0, tokens, args->hidden_states, up},
    };
    const struct graft_linear_args down_args = {sizeof down_args, 0, tokens, gate, args->output};
    int status = graft_linear_forward_all(projections, call, projection_args, 2, error);
    if (status == GRAFT_OK) {
        status = graft_activation_gate(self->act_fn, call, gate, up, tokens, self->intermediate_size, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->down_proj, call, &down_args, error) : status;
}

const struct graft_mlp graft_mlp_vtable = {
    .struct_size = sizeof graft_mlp_vtable,
    .forward = forward,
};
