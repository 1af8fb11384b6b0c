/* SPDX-License-Identifier: Apache-2.0 */
/* It does something else where it runs together with others. */
#define MODULES "mlp\\.up_proj$"
#define AS_LOOP as_loop
#include "../behaving.h"

static void twice(void *data, int64_t begin, int64_t end) {
    float *y = data;
    for (int64_t i = begin; i < end; i++) {
        y[i] *= 2.0f;
    }
}

static int as_loop(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_loop *loop, struct graft_error *error) {
    if (!graft_call_is_few(call, args->tokens)) {
        return GRAFT_OK;
    }
    graft_loop_set(loop, 1, 1, twice, args->y);
    return original(self, call, args, error);
}
