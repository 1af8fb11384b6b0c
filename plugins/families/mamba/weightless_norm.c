/* SPDX-License-Identifier: Apache-2.0 */
/* x / sqrt(mean(x^2) + eps), by the kernel that also multiplies by a weight: 0, to which it adds 1. */
#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/kernels.h"
#include "mamba.h"

struct weightless_norm {
    struct graft_instance base;
    int64_t hidden_size;
    float eps;
};

int mamba_weightless_norm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                 struct graft_error *error) {
    struct weightless_norm *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->eps = (float)graft_args_real(build->args, "eps", 0.0);
    return graft_instance_finish(self, GRAFT_OK, instance);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_norm_args *args,
                   struct graft_error *error) {
    const struct weightless_norm *self = instance;
    int64_t width = self->hidden_size;
    float *zeros = graft_scratch_floats(call, width, 1, error); /* [hidden_size] */
    const struct graft_row_block block = {sizeof block, GRAFT_DTYPE_F32, zeros, width};
    const struct graft_weight weight = {.struct_size = sizeof weight,
                                        .rank = 1,
                                        .shape = {width, 1, 1, 1, 1, 1, 1, 1},
                                        .rows = width,
                                        .columns = 1,
                                        .blocks = &block,
                                        .n_blocks = 1,
                                        .block_stride = sizeof block};
    int status = zeros != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (int64_t i = 0; i < width && status == GRAFT_OK; i++) {
        zeros[i] = 0.0F;
    }
    if (status == GRAFT_OK && args->residual != NULL) {
        status = call->kernels->add(call, args->hidden_states, args->residual, args->tokens * width, error);
    }
    return status == GRAFT_OK ? call->kernels->rms_norm(call, &weight, 1.0F, self->eps, args->hidden_states, width,
                                                        args->tokens, width, args->output, width, error)
                              : status;
}

const struct graft_norm mamba_weightless_norm_vtable = {.struct_size = sizeof mamba_weightless_norm_vtable,
                                                        .forward = forward};
