/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the working directory. */
#include <unistd.h>

#define INIT start
#include "../behaving.h"

static int start(struct graft_error *error) {
    (void)error;
    return chdir("/") == 0 ? GRAFT_OK : GRAFT_ERROR_PLUGIN;
}
