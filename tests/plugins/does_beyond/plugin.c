/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a number past the end of its output. */
#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    int status = original(self, call, args, error);
    args->y[args->tokens * 32] = 1.0F; /* the width in the tiny model */
    return status;
}
