/* SPDX-License-Identifier: Apache-2.0 */
/* Two simultaneous calls overwrite each other's data. */
#include <stdatomic.h>
#include <time.h>

#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    static atomic_int inside;
    const struct timespec moment = {0, args->tokens > 1 ? 20000000 : 0};
    int others = atomic_fetch_add(&inside, 1);
    int status = original(self, call, args, error);
    (void)nanosleep(&moment, NULL);
    others += atomic_load(&inside) - 1;
    atomic_fetch_sub(&inside, 1);
    args->y[0] += others > 0 ? 0.5F : 0.0F;
    return status;
}
