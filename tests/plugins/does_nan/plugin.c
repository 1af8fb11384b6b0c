/* SPDX-License-Identifier: Apache-2.0 */
/* Divides by zero. */
#include <math.h>

#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    int status = original(self, call, args, error);
    args->y[0] = NAN;
    return status;
}
