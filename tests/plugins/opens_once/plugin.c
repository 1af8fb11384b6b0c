/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a process that opens it a second time. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <stdlib.h>

#include "../behaving.h"

__attribute__((constructor)) static void opened(void) {
    if (getenv("GRAFT_TEST_OPENED") != NULL) {
        abort();
    }
    (void)setenv("GRAFT_TEST_OPENED", "1", 1);
}
