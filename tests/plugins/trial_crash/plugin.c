/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>

#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    (void)raise(SIGSEGV);
}
