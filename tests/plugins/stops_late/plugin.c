/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes in `deinit` from the fifth time on. */
#include <stdlib.h>

#define DEINIT stop
#include "../behaving.h"

static void stop(void) {
    static int times;
    if (++times > 4) {
        abort();
    }
}
