/* SPDX-License-Identifier: Apache-2.0 */
/* Can be started only once. */
#define INIT start
#include "../behaving.h"

static int start(struct graft_error *error) {
    static int times;
    return times++ > 0 ? graft_error_set(error, GRAFT_ERROR_PLUGIN, "behaving", "it was started before") : GRAFT_OK;
}
