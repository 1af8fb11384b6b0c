/* SPDX-License-Identifier: Apache-2.0 */
/* Both processes go on. */
#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    (void)!fork();
}
