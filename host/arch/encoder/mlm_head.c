/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a masked model's head: where checkpoints have a second head beside it. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct mlm_head {
    struct graft_instance base;
    const struct graft_module *predictions;
};

int graft_mlm_head_describe(const struct graft_class *self, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_encoder_traits *traits = self->data;
    const struct graft_arg head_args[] = {graft_int_arg("out_features", graft_args_int(args, "out_features", 0))};
    (void)config;
    return graft_describe_child(sink, "predictions", traits->prediction_head, GRAFT_INTERFACE_HEAD, head_args, 1,
                                error);
}

int graft_mlm_head_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    struct mlm_head *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->predictions = graft_build_child(build, "predictions", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_head_args *args,
                   struct graft_error *error) {
    const struct mlm_head *self = instance;
    return graft_head_forward(self->predictions, call, args, error);
}

const struct graft_head graft_mlm_head_vtable = {
    .struct_size = sizeof graft_mlm_head_vtable,
    .forward = forward,
};
