/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* __rlimit_resource_t, RLIM_NLIMITS */
#include "plugin/process_state.h"

#include <string.h>
#include <sys/wait.h>

#include "plugin/trial.h"

_Static_assert((int)RLIM_NLIMITS <= (int)GRAFT_PROCESS_LIMITS, "room for each");

static int same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What cannot be told stays 0, as it was. */
void graft_process_look(struct graft_process_state *state) {
    memset(state, 0, sizeof *state);
    for (int i = 0; i < GRAFT_PROCESS_FILES; i++) {
        (void)fstat(i, &state->files[i]);
    }
    (void)stat(".", &state->folder);
    for (int i = 0; i < (int)RLIM_NLIMITS; i++) {
        (void)getrlimit((__rlimit_resource_t)i, &state->limits[i]);
    }
}

const char *graft_process_change(const struct graft_process_state *before) {
    struct graft_process_state now;
    graft_process_look(&now);
    for (int i = 0; i < GRAFT_PROCESS_FILES; i++) {
        if (!same_file(&before->files[i], &now.files[i])) {
            return "closed files that it had not opened";
        }
    }
    if (!same_file(&before->folder, &now.folder)) {
        return "changed the working directory";
    }
    for (int i = 0; i < (int)RLIM_NLIMITS; i++) {
        if (before->limits[i].rlim_cur != now.limits[i].rlim_cur ||
            before->limits[i].rlim_max != now.limits[i].rlim_max) {
            return "changed a resource limit (setrlimit)";
        }
    }
    return waitpid(-1, NULL, WNOHANG) == 0 ? GRAFT_TRIAL_LEFT_PROCESSES : NULL;
}
