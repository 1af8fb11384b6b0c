/* SPDX-License-Identifier: Apache-2.0 */
/* It can be ended four times. */
#include <stdlib.h>

#define DEINIT stop
#include "../behaving.h"

static void stop(void) {
    static int times;
    if (++times > 4) {
        abort();
    }
}
