/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the place of a norm that a neighbour has absorbed: it only adds the residual. */
#include <string.h>

#include "arch/outline.h"
#include "arch/role.h"
#include "graft/describe.h"

enum { MAX_SIZE = 1 << 20 };

struct identity {
    struct graft_instance base;
    int64_t hidden_size;
};

static void outline(struct graft_outline *of, struct identity *self) {
    if (graft_args_size(of->args, "hidden_size", MAX_SIZE, of->sink->path, &self->hidden_size, of->error) == GRAFT_OK) {
        graft_outline_number(of, "hidden_size", self->hidden_size);
    }
}

GRAFT_OUTLINED_FROM(graft_outline_start, graft_identity, struct identity, 0)

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
