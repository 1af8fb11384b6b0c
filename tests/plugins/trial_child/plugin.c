/* SPDX-License-Identifier: Apache-2.0 */
/* A helper process that nobody waits for. */
#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    if (fork() == 0) {
        for (;;) {
            (void)pause();
        }
    }
}
