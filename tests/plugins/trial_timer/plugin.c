/* SPDX-License-Identifier: Apache-2.0 */
#define HARM_ENTRY
#include <signal.h>
#include <time.h>

#include "../harmful.h"

static void harm(void) {
    struct sigevent nothing = {.sigev_notify = SIGEV_NONE};
    timer_t timer;
    (void)timer_create(CLOCK_MONOTONIC, &nothing, &timer);
}
