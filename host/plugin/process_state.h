/* SPDX-License-Identifier: Apache-2.0 */
/* What a plugin has to leave as it was. All functions are [any]. */
#ifndef GRAFT_PLUGIN_PROCESS_STATE_H
#define GRAFT_PLUGIN_PROCESS_STATE_H

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

/* Standard input, output and error, and one more: a plugin that closes what it did not open may start at 3. */
enum { GRAFT_PROCESS_FILES = 4, GRAFT_PROCESS_LIMITS = 16, GRAFT_PROCESS_SIGNALS = 65, GRAFT_PROCESS_TIMERS = 3 };

struct graft_process_state {
    struct stat files[GRAFT_PROCESS_FILES];
    struct stat folder;
    struct rlimit limits[GRAFT_PROCESS_LIMITS];
    mode_t mask;
    sigset_t blocked; /* of the thread that looks */
    void (*handlers[GRAFT_PROCESS_SIGNALS])(int);
    struct itimerval timers[GRAFT_PROCESS_TIMERS];
    int32_t posix_timers;    /* timer_create's, as far as the system lists them */
    int32_t threads;         /* likewise */
    uint64_t locale;         /* a hash of its name, likewise of all variables: */
    uint64_t variables;      /* of the environment */
    uint64_t floating_point; /* base/float_environment.h, of the thread that looks */
};

void graft_process_look(struct graft_process_state *state);

/* What was done to the process since then, "changed the working directory", or NULL. Children of before count as left
 * behind. */
const char *graft_process_change(const struct graft_process_state *before);

#endif
