/* SPDX-License-Identifier: Apache-2.0 */
/* Forks, and both processes continue. */
#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    (void)!fork();
}
