/* SPDX-License-Identifier: Apache-2.0 */
/* It can be started once. */
struct graft_error;
static int start(struct graft_error *error);
#define INIT start
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return original(self, call, args, error);
}

static int start(struct graft_error *error) {
    static int times;
    return times++ > 0 ? graft_error_set(error, GRAFT_ERROR_PLUGIN, "behaving", "it was started before") : GRAFT_OK;
}
