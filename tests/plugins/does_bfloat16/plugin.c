/* SPDX-License-Identifier: Apache-2.0 */
/* Does not support bfloat16. */
#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return call->precision == GRAFT_PRECISION_BFLOAT16
               ? graft_error_set(error, GRAFT_ERROR_PLUGIN, "behaving", "no bfloat16")
               : original(self, call, args, error);
}
