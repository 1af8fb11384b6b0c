/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the place of a norm that a neighbour has absorbed: it only adds the residual. */
#include <string.h>

#include "arch/role.h"
#include "graft/describe.h"

enum { MAX_SIZE = 1 << 20 };

struct identity {
    struct graft_instance base;
    int64_t hidden_size;
};

int graft_identity_describe(const struct graft_class *self, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t *hidden_size = sink->keep(sink->data, sizeof *hidden_size, error);
    (void)self;
    (void)config;
    int status = hidden_size != NULL ? graft_args_size(args, "hidden_size", MAX_SIZE, sink->path, hidden_size, error)
                                     : GRAFT_ERROR_INTERNAL;
    return status == GRAFT_OK ? sink->attribute(sink->data, "hidden_size", hidden_size, 1, error) : status;
}

int graft_identity_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                          struct graft_error *error) {
    const int64_t *hidden_size = build->kept;
    struct identity *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->hidden_size = *hidden_size;
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_norm_args *args,
                   struct graft_error *error) {
    const struct identity *self = instance;
    int64_t count = args->tokens * self->hidden_size;
    int status = GRAFT_OK;
    if (args->residual != NULL) {
        status = call->kernels->add(call, args->hidden_states, args->residual, count, error);
    }
    memcpy(args->output, args->hidden_states, (size_t)count * sizeof *args->output);
    return status;
}

const struct graft_norm graft_identity_vtable = {.struct_size = sizeof graft_identity_vtable, .forward = forward};
