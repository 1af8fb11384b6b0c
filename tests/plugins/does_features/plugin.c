/* SPDX-License-Identifier: Apache-2.0 */
/* Declares all present and future features, and ignores them. */
#define FEATURES 0xFFFFFFFFU
#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    struct graft_linear_args known = *args;
    known.required_features = 0;
    return original(self, call, &known, error);
}
