/* SPDX-License-Identifier: Apache-2.0 */
/* Its deinit crashes. */
#include <stdlib.h>

#define DEINIT stop
#include "../behaving.h"

static void stop(void) {
    abort();
}
