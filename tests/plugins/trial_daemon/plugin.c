/* SPDX-License-Identifier: Apache-2.0 */
/* A process in a session of its own, which its parent has left. */
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
