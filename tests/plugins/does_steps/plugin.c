/* SPDX-License-Identifier: Apache-2.0 */
/* Its result depends on earlier calls. */
#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    static int64_t seen;
    int status = original(self, call, args, error);
    args->y[0] += args->tokens == 1 && seen > 1 ? 0.5F : 0.0F;
    seen = args->tokens;
    return status;
}
