/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes in `deinit`. */
#include <stdlib.h>

#define DEINIT stop
#include "../behaving.h"

static void stop(void) {
    abort();
}
