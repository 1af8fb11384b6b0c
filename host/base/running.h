/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread is doing that a plugin may have brought, so that a crash can be blamed on it (library/crash.c). Kept up
 * at all times, since nobody knows when it will be needed: two stores around each call.
 */
#ifndef GRAFT_BASE_RUNNING_H
#define GRAFT_BASE_RUNNING_H

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
};

/* [any] This thread's. */
struct graft_running *graft_running(void);

/* [any] Begins a task, which stays the caller's; gives what ran before, for the end. */
struct graft_running graft_running_begin(const struct graft_task *task);
void graft_running_end(struct graft_running before);

#endif
