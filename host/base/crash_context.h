/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks which code of a plugin a thread runs, so that a crash can be blamed on the plugin (library/crash.c). It is
 * always kept up to date, at the cost of two stores around each call. The same calls restore the floating-point
 * environment, so that no plugin changes what the host computes.
 */
#ifndef GRAFT_BASE_CRASH_CONTEXT_H
#define GRAFT_BASE_CRASH_CONTEXT_H

#include <stdint.h>

#include "base/float_environment.h"
#include "graft/module.h"

/* A call into code that may be a plugin's, other than a module's forward. The strings outlive the call. */
struct graft_plugin_call {
    const char *what;       /* "describe", "init" */
    const char *path;       /* path of the module it is for; NULL if there is none */
    const char *class_name; /* the class, implementation or operation; NULL: the plugin itself */
    const char *plugin;     /* id of the plugin; NULL: the host, or not known */
    const char *file;       /* file of a plugin whose id is not known yet; else NULL */
};

/* What runs on a thread. Of module and task the inner one counts: a forward inside of a task leaves the task set, and a
 * task inside of a forward hides the module. */
struct graft_crash_context {
    const struct graft_module *module;    /* the module whose forward runs; NULL: none since the task began */
    const struct graft_plugin_call *task; /* the task that runs; NULL: none */
    uint64_t environment;                 /* floating-point environment when the task began */
};

/* [any] What this thread runs. */
struct graft_crash_context *graft_crash_context(void);

/* [any] Begins a task, which the caller keeps, and returns what ran before, for graft_crash_context_end. The end
 * restores the floating-point environment of the beginning; if forwards are watched, a change counts as a fault of the
 * task. */
struct graft_crash_context graft_crash_context_begin(const struct graft_plugin_call *task);
void graft_crash_context_end(struct graft_crash_context before);

/*
 * [forward] Watches this thread's floating-point environment during a model's forward. A module, task or loop that
 * changes it is at fault: the first fault is kept, and the environment restored. graft_crash_context_unwatch returns
 * `status`, or GRAFT_ERROR_PLUGIN with an error that names the fault.
 */
struct graft_watched {
    uint64_t environment; /* the environment that forwards must keep; 0: not watched */
    uint64_t found;       /* the environment after the fault; 0: no fault */
    const struct graft_module *module;
    const struct graft_plugin_call *task;
};

struct graft_watched graft_crash_context_watch(void);
int graft_crash_context_unwatch(struct graft_watched before, int status, struct graft_error *error);

/* [forward] Checks the environment: if it changed, whatever runs on this thread is at fault. Inline and without the
 * control word of the x87, since it is called around every module; the closer check includes that word. */
extern _Thread_local struct graft_watched graft_crash_context_watched;
void graft_crash_context_look_closely(void);

static inline void graft_crash_context_look(void) {
    if (!graft_float_environment_holds(graft_crash_context_watched.environment)) {
        graft_crash_context_look_closely();
    }
}

/* [forward] Records that a worker of this thread's loop left the environment as `found`. */
void graft_crash_context_blame(uint64_t found);

#endif
