/* SPDX-License-Identifier: Apache-2.0 */
/* It exports a function of its own. */
void behaving_helper(void);
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return original(self, call, args, error);
}

__attribute__((visibility("default"))) void behaving_helper(void) {}
