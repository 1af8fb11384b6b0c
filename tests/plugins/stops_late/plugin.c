/* SPDX-License-Identifier: Apache-2.0 */
/* It can be ended four times. */
#include <stdlib.h>

static void stop(void);
#define DEINIT stop
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return original(self, call, args, error);
}

static void stop(void) {
    static int times;
    if (++times > 4) {
        abort();
    }
}
