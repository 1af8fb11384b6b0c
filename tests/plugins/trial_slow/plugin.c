/* SPDX-License-Identifier: Apache-2.0 */
/* Opens slowly, as from a slow disk, and does no harm. */
#include <time.h>

#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    const struct timespec moment = {0, 300000000};
    (void)nanosleep(&moment, NULL);
}
