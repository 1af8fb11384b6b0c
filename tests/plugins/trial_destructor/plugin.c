/* SPDX-License-Identifier: Apache-2.0 */
#include "../harmful.h"

__attribute__((destructor)) static void harm(void) {
    abort();
}
