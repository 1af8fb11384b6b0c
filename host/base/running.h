/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread is doing that a plugin may have brought, so that a crash can be blamed on it (library/crash.c). Kept up
 * at all times, since nobody knows when it will be needed: two stores around each call. Around the same calls the
 * floating-point environment is put back, so that no plugin changes what the host computes.
 */
#ifndef GRAFT_BASE_RUNNING_H
#define GRAFT_BASE_RUNNING_H

#include <stdint.h>

#include "base/float_environment.h"
#include "graft/module.h"

/* A call of the host into code that may be a plugin's, other than a module's forward. Texts outlive it. */
struct graft_task {
    const char *what;       /* "describe", "init" */
    const char *path;       /* of the module it is for; NULL: for none */
    const char *class_name; /* or the name of an implementation or operation; NULL: it is the plugin's own */
    const char *plugin;     /* its id; NULL: the host's own, or not known */
    const char *file;       /* of a plugin whose id is not known yet; else NULL */
};

/* The innermost of both is what runs: a forward inside a task clears no task, a task inside a forward hides it. */
struct graft_running {
    const struct graft_module *module; /* whose forward runs; NULL: none since the task began */
    const struct graft_task *task;     /* NULL: none */
    uint64_t environment;              /* floating-point: of when the task began */
};

/* [any] This thread's. */
struct graft_running *graft_running(void);

/* [any] Begins a task, which stays the caller's; gives what ran before, for the end. The end restores the
 * floating-point environment of the beginning; where forwards are watched, a change is a fault of the task. */
struct graft_running graft_running_begin(const struct graft_task *task);
void graft_running_end(struct graft_running before);

/*
 * [forward] Watches this thread's floating-point environment during a forward of a model. A module, task or loop that
 * changes it is a fault: the first one is kept, and the environment put back. graft_running_unwatch returns `status`,
 * or GRAFT_ERROR_PLUGIN with an error that names the fault.
 */
struct graft_watched {
    uint64_t environment; /* what forwards have to leave; 0: nobody watches */
    uint64_t found;       /* what the fault left; 0: there is none */
    const struct graft_module *module;
    const struct graft_task *task;
};

struct graft_watched graft_running_watch(void);
int graft_running_unwatch(struct graft_watched before, int status, struct graft_error *error);

/* [forward] Looks at the environment: whatever runs on this thread is at fault if it changed. Inline and without the
 * x87's control word, since it is called around every module; closely: with it. */
extern _Thread_local struct graft_watched graft_running_watched;
void graft_running_look_closely(void);

static inline void graft_running_look(void) {
    if (!graft_float_environment_holds(graft_running_watched.environment)) {
        graft_running_look_closely();
    }
}

/* [forward] A worker of this thread's loop left the environment `found`. */
void graft_running_blame(uint64_t found);

#endif
