/* SPDX-License-Identifier: Apache-2.0 */
/* A licence check that ends the program. */
#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    exit(0);
}
