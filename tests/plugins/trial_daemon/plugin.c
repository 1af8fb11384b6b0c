/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves a process behind in a session of its own. */
#include <sys/wait.h>

#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
    pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        if (fork() != 0) {
            _exit(0);
        }
        for (;;) {
            (void)pause();
        }
    }
    (void)waitpid(child, NULL, 0);
}
