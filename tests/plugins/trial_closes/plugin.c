/* SPDX-License-Identifier: Apache-2.0 */
#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    (void)close(2);
}
