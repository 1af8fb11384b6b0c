/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes in `forward`. */
#include <stdlib.h>

#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    (void)self, (void)call, (void)args, (void)error;
    abort();
}
