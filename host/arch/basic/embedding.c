/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct embedding {
    struct graft_instance base;
    const struct graft_weight *weight; /* [num_embeddings, embedding_dim] */
};

int graft_embedding_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t shape[2] = {graft_args_int(args, "num_embeddings", 0), graft_args_int(args, "embedding_dim", 0)};
    (void)self;
    (void)config;
    graft_describe_number(sink, "num_embeddings", shape[0], error);
    graft_describe_number(sink, "embedding_dim", shape[1], error);
    return graft_describe_parameter(sink, "weight", 2, shape, 0, GRAFT_INIT_NONE, error);
}

int graft_embedding_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    struct embedding *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->weight = graft_build_weight(build, "weight", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_embedding_args *args,
                   struct graft_error *error) {
    const struct embedding *self = instance;
    return call->kernels->embedding(call, self->weight, args->ids, args->tokens, args->output, error);
}

const struct graft_embedding graft_embedding_vtable = {.struct_size = sizeof graft_embedding_vtable,
                                                       .forward = forward};
