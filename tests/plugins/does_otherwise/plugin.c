/* SPDX-License-Identifier: Apache-2.0 */
/* Computes something else than the original. */
#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    int status = original(self, call, args, error);
    args->y[0] += 0.5F;
    return status;
}
