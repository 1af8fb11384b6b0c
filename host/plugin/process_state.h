/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the process that a plugin must not change. All functions are [any]. */
#ifndef GRAFT_PLUGIN_PROCESS_STATE_H
#define GRAFT_PLUGIN_PROCESS_STATE_H

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

/* Standard input, output and error, and one more descriptor: a plugin that closes what it did not open may start at
 * 3. */
enum { GRAFT_PROCESS_FILES = 4, GRAFT_PROCESS_LIMITS = 16, GRAFT_PROCESS_SIGNALS = 65, GRAFT_PROCESS_TIMERS = 3 };

struct graft_process_state {
    struct stat files[GRAFT_PROCESS_FILES];
    struct stat folder;
    struct rlimit limits[GRAFT_PROCESS_LIMITS];
    mode_t mask;
    sigset_t blocked; /* signal mask of the calling thread */
    void (*handlers[GRAFT_PROCESS_SIGNALS])(int);
    struct itimerval timers[GRAFT_PROCESS_TIMERS];
    int32_t posix_timers;    /* timers of timer_create, if the system lists them */
    int32_t threads;         /* threads, likewise */
    uint64_t locale;         /* hash of the locale's name */
    uint64_t variables;      /* hash of the environment variables */
    uint64_t floating_point; /* floating-point environment of the calling thread */
};

void graft_process_look(struct graft_process_state *state);

/* What has changed in the process since `before`, such as "changed the working directory"; NULL if nothing has. Child
 * processes from before count as left behind. */
const char *graft_process_change(const struct graft_process_state *before);

#endif
