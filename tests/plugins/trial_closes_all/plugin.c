/* SPDX-License-Identifier: Apache-2.0 */
/* Closes all file descriptors, as daemons do. */
#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    for (int i = 3; i < 256; i++) {
        (void)close(i);
    }
}
