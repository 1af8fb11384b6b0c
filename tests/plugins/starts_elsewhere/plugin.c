/* SPDX-License-Identifier: Apache-2.0 */
/* It goes to another directory, and stays there. */
#include <unistd.h>

struct graft_error;
static int start(struct graft_error *error);
#define INIT start
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return original(self, call, args, error);
}

static int start(struct graft_error *error) {
    (void)error;
    return chdir("/") == 0 ? GRAFT_OK : GRAFT_ERROR_PLUGIN;
}
