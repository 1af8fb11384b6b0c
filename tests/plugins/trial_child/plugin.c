/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a helper process that nothing waits for. */
#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    if (fork() == 0) {
        for (;;) {
            (void)pause();
        }
    }
}
