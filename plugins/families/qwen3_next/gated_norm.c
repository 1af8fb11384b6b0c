/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/kernels.h"
#include "qwen3_next.h"

struct gated_norm {
    struct graft_instance base;
    const struct graft_weight *weight; /* [hidden_size] */
    float eps;
};

int qwen3_next_gated_norm_describe(const struct graft_class *cls, const struct graft_config *config,
                                   const struct graft_args *args, const struct graft_sink *sink,
                                   struct graft_error *error) {
    (void)cls;
    (void)config;
    return graft_describe_vector(sink, "weight", graft_args_int(args, "hidden_size", 0), error);
}

int qwen3_next_gated_norm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                 struct graft_error *error) {
    int status = GRAFT_OK;
    struct gated_norm *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->weight = graft_build_weight(build, "weight", &status, error);
    self->eps = (float)graft_args_real(build->args, "eps", 0.0);
    return graft_instance_finish(self, status, instance);
}

static int forward(void *instance, const struct graft_call *call, const void *data, struct graft_error *error) {
    const struct gated_norm *self = instance;
    const struct qwen3_next_gated_norm_args *args = data;
    int64_t width = self->weight->rows;
    float *normed = graft_scratch_floats(call, args->rows, width, error); /* [rows, hidden_size] */
    if (normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = call->kernels->rms_norm(call, self->weight, 0.0F, self->eps, args->hidden_states, width, args->rows,
                                         width, normed, width, error);
    return status == GRAFT_OK ? call->kernels->gated_activation(call, GRAFT_ACTIVATION_SILU, args->gate, width, normed,
                                                                width, args->rows, width, error)
                              : status;
}

const struct graft_vtable qwen3_next_gated_norm_vtable = {.struct_size = sizeof qwen3_next_gated_norm_vtable,
                                                          .forward = forward};
