/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/role.h"
#include "graft/describe.h"

struct kept {
    double eps;
    double offset; /* what a derived class adds to the weight */
};

struct rms_norm {
    struct graft_instance base;
    const struct graft_weight *weight; /* [hidden_size] */
    float offset;
    float eps;
};

int graft_rms_norm_describe(const struct graft_class *self, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    (void)self;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    kept->offset = graft_args_real(args, "offset", 0.0);
    kept->eps = graft_args_real(args, "eps", 1e-6);
    if (graft_args_find(args, "eps", GRAFT_ARG_REAL) == NULL) {
        int status = graft_config_real_from(config, "rms_norm_eps", 0.0, &kept->eps, error);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    return graft_describe_vector(sink, "weight", graft_args_int(args, "hidden_size", 0), error);
}

int graft_rms_norm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    const struct kept *kept = build->kept;
    int status = GRAFT_OK;
    (void)cls;
    struct rms_norm *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->offset = (float)kept->offset;
    self->eps = (float)kept->eps;
    self->weight = graft_build_weight(build, "weight", &status, error);
    return graft_instance_finish(self, status, instance);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_norm_args *args,
                   struct graft_error *error) {
    const struct rms_norm *self = instance;
    int64_t hidden = self->weight->rows;
    int status = GRAFT_OK;
    if (args->residual != NULL) {
        status = call->kernels->add(call, args->hidden_states, args->residual, args->tokens * hidden, error);
    }
    return status == GRAFT_OK
               ? call->kernels->rms_norm(call, self->weight, self->offset, self->eps, args->hidden_states, hidden,
                                         args->tokens, hidden, args->output, hidden, error)
               : status;
}

const struct graft_norm graft_rms_norm_vtable = {
    .struct_size = sizeof graft_rms_norm_vtable,
    .forward = forward,
};
