/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates memory without checking for NULL. */
#include <string.h>

#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    enum { BYTES = 1 << 20 };
    char *room = call->scratch_alloc(call->scratch, BYTES);
    room[0] = 0;
    room[BYTES - 1] = 0;
    return original(self, call, args, error);
}
