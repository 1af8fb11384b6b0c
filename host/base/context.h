/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a thread while it works for a library: how many threads help it, where log lines and progress go, and
 * how plugins are tried. Each library has a context. The process's context applies to settings that the library has not
 * chosen, and to threads that work for no library. All functions are [any].
 */
#ifndef GRAFT_BASE_CONTEXT_H
#define GRAFT_BASE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "graft/host/process.h"

struct graft_context {
    atomic_int threads;   /* 0: not chosen */
    pthread_mutex_t lock; /* held while a sink runs, and guards the members below */
    graft_log_sink log;   /* NULL: not chosen */
    void *log_data;
    graft_progress_sink progress; /* NULL: not chosen */
    void *progress_data;
    int32_t chooses_trials;
    int32_t tries_again;
    char *trial_program; /* NULL: plugins are not tried */
};

void graft_context_init(struct graft_context *context);
void graft_context_finish(struct graft_context *context);

/* The context of the process. */
struct graft_context *graft_context_of_process(void);

/* Makes `context` (NULL: the process's) the current one of this thread. Returns the one before, which the caller enters
 * again at the end. Workers of a parallel loop use the context of the thread that began the loop. */
struct graft_context *graft_context_enter(struct graft_context *context);

/* The current context of this thread, as given to graft_context_enter. */
struct graft_context *graft_context(void);

/* The number of threads chosen for the current context, or else for the process; 0 if neither is set. */
int32_t graft_context_threads(void);

void graft_context_set_log(struct graft_context *context, graft_log_sink sink, void *data);
void graft_context_set_progress(struct graft_context *context, graft_progress_sink sink, void *data);

/* Sends a line to the sink. Both strings are free of control characters. */
void graft_context_log(const char *sender, const char *text);

/* Reports progress: `done` of `total`, of the kind `what` (GRAFT_PROGRESS_...). */
void graft_context_tell(int32_t what, int64_t done, int64_t total);

/* Sets the program that tries plugins; NULL: plugins are not tried. Returns GRAFT_OK or GRAFT_ERROR_INTERNAL. */
int graft_context_set_trials(struct graft_context *context, int32_t chooses, const char *program, int32_t again);

/* The program that tries plugins, as a copy that the caller frees, or NULL; and `*again` as it was set. Returns
 * GRAFT_OK or GRAFT_ERROR_INTERNAL. */
int graft_context_trials(char **program, int *again);

#endif
