/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the rounding mode to upwards, and leaves it so. */
#include <fenv.h>

#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    (void)fesetround(FE_UPWARD);
    return original(self, call, args, error);
}
