/* SPDX-License-Identifier: Apache-2.0 */
#define HARM_ENTRY
#include <signal.h>

#include "../harmful.h"

static void harm(void) {
    (void)signal(SIGINT, SIG_IGN);
}
