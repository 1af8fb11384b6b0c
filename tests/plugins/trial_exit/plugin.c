/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the process, as a licence check might. */
#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    exit(0);
}
