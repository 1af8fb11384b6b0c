/* SPDX-License-Identifier: Apache-2.0 */
/* The second instance of a model computes something else. */
#include <string.h>

#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    static const void *first;
    const struct graft_module *module = self;
    int status = original(self, call, args, error);
    if (strcmp(module->path, "model.layers.0.mlp.down_proj") == 0) {
        first = first != NULL ? first : self;
        args->y[0] += self == first ? 0.0F : 0.5F;
    }
    return status;
}
