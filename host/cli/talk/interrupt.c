/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>

#include "cli/talk/talk.h"

static volatile sig_atomic_t interrupted;

static void note(int number) {
    (void)number;
    interrupted = 1;
}

int graft_talk_is_interrupted(void) {
    return interrupted != 0;
}

void graft_talk_clear_interrupt(void) {
    interrupted = 0;
}

/* Without SA_RESTART, so that Ctrl-C also interrupts reading a line. */
void graft_talk_catch_interrupts(void) {
    struct sigaction action = {.sa_handler = note};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
}
