/* SPDX-License-Identifier: Apache-2.0 */
/* Changes its descriptor in `init`. */
#define INIT start
#include "../behaving.h"

static int start(struct graft_error *error) {
    (void)error;
    behaving_plugin.version = "2.0.0";
    return GRAFT_OK;
}
