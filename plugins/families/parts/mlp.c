/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "graft/describe.h"
#include "parts.h"

struct mlp {
    const struct graft_module *up;   /* hidden_size -> intermediate_size */
    const struct graft_module *down; /* intermediate_size -> hidden_size */
    const struct graft_module *act;
    int64_t intermediate_size;
};

int parts_mlp_describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                       const struct graft_sink *sink, struct graft_error *error) {
    const struct parts_mlp *names = self->data;
    int64_t hidden_size = graft_args_int(args, "hidden_size", 0);
    int64_t intermediate_size = graft_args_int(args, "intermediate_size", 0);
    int32_t bias = graft_args_int(args, "mlp_bias", 0) != 0;
    int status = graft_describe_linear(sink, names->up, hidden_size, intermediate_size, bias, error);
    if (status == GRAFT_OK) {
        status = graft_describe_linear(sink, names->down, intermediate_size, hidden_size, bias, error);
    }
    return status == GRAFT_OK ? graft_describe_activation(sink, names->act, config, args, "hidden_act", error) : status;
}

int parts_mlp_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                     struct graft_error *error) {
    const struct parts_mlp *names = cls->data;
    struct mlp *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->intermediate_size = graft_args_int(build->args, "intermediate_size", 0);
    self->up = graft_build_child(build, names->up, &status, error);
    self->down = graft_build_child(build, names->down, &status, error);
    self->act = graft_build_child(build, names->act, &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct mlp *self = instance;
    int64_t tokens = args->tokens;
    int64_t columns = self->intermediate_size;
    float *inner = graft_scratch_floats(call, tokens, columns, error); /* [tokens, intermediate_size] */
    const struct graft_linear_args up_args = {sizeof up_args, 0, tokens, args->hidden_states, inner};
    const struct graft_activation_args act_args = {sizeof act_args, 0, tokens * columns, inner, inner};
    const struct graft_linear_args down_args = {sizeof down_args, 0, tokens, inner, args->output};
    int status = inner != NULL ? graft_linear_forward(self->up, call, &up_args, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = graft_activation_forward(self->act, call, &act_args, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->down, call, &down_args, error) : status;
}

const struct graft_mlp parts_mlp_vtable = {
    .struct_size = sizeof parts_mlp_vtable,
    .forward = forward,
};
