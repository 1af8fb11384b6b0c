/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "graft/describe.h"
#include "graft/kernels.h"
#include "mamba2.h"

struct gated_norm {
    const struct graft_weight *weight; /* [hidden_size] */
    int64_t hidden_size;
    int64_t group_size;
    float eps;
};

int mamba2_gated_norm_describe(const struct graft_class *cls, const struct graft_config *config,
                               const struct graft_args *args, const struct graft_sink *sink,
                               struct graft_error *error) {
    (void)cls;
    (void)config;
    return graft_describe_vector(sink, "weight", graft_args_int(args, "hidden_size", 0), error);
}

int mamba2_gated_norm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                             struct graft_error *error) {
    struct gated_norm *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->weight = graft_build_weight(build, "weight", &status, error);
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->group_size = graft_args_int(build->args, "group_size", 0);
    self->eps = (float)graft_args_real(build->args, "eps", 0.0);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const void *data, struct graft_error *error) {
    const struct gated_norm *self = instance;
    const struct mamba2_gated_norm_args *args = data;
    const float *numbers = graft_scratch_widened(call, self->weight, error); /* [hidden_size] */
    if (numbers == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status =
        call->kernels->gated_activation(call, GRAFT_ACTIVATION_SILU, args->gate, args->gate_stride, args->hidden_states,
                                        self->hidden_size, args->tokens, self->hidden_size, error);
    for (int64_t at = 0; at < self->hidden_size && status == GRAFT_OK; at += self->group_size) {
        const struct graft_row_block block = {sizeof block, GRAFT_DTYPE_F32, numbers + at, self->group_size};
        const struct graft_weight weight = {
            .struct_size = sizeof weight,
            .rank = 1,
            .shape = {self->group_size, 1, 1, 1, 1, 1, 1, 1},
            .rows = self->group_size,
            .columns = 1,
            .blocks = &block,
            .n_blocks = 1,
            .block_stride = sizeof block,
        };
        status = call->kernels->rms_norm(call, &weight, 0.0F, self->eps, args->gate + at, args->gate_stride,
                                         args->tokens, self->group_size, args->output + at, self->hidden_size, error);
    }
    return status;
}

const struct graft_vtable mamba2_gated_norm_vtable = {.struct_size = sizeof mamba2_gated_norm_vtable,
                                                      .forward = forward};
