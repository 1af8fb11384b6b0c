/* SPDX-License-Identifier: Apache-2.0 */
#define HARM_ENTRY
#include <signal.h>

#include "../harmful.h"

static void harm(void) {
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}
