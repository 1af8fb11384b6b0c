/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread works by while it does something for a library: how many threads help it, where log lines and progress
 * go, and how plugins are tried. A library has a context of its own; where it has chosen nothing, that of the process
 * holds, and it holds for threads that work for no library. All functions are [any].
 */
#ifndef GRAFT_BASE_CONTEXT_H
#define GRAFT_BASE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "graft/host/process.h"

struct graft_context {
    atomic_int threads;   /* 0: not chosen */
    pthread_mutex_t lock; /* held while a sink runs, and for the rest below */
    graft_log_sink log;   /* NULL: not chosen */
    void *log_data;
    graft_progress_sink progress; /* NULL: not chosen */
    void *progress_data;
    int32_t chooses_trials;
    int32_t tries_again;
    char *trial_program; /* NULL: nothing is tried */
};

void graft_context_init(struct graft_context *context);
void graft_context_finish(struct graft_context *context);

/* That of the process. */
struct graft_context *graft_context_of_process(void);

/* This thread works by `context` (NULL: the process's) from now on; gives what it worked by before, to be entered again
 * at the end. Workers of a loop work by that of the thread which began it. */
struct graft_context *graft_context_enter(struct graft_context *context);

/* What this thread works by: what graft_context_enter was given. */
struct graft_context *graft_context(void);

/* The number of threads set for the current context, or else for the process; 0: neither was set. */
int32_t graft_context_threads(void);

void graft_context_set_log(struct graft_context *context, graft_log_sink sink, void *data);
void graft_context_set_progress(struct graft_context *context, graft_progress_sink sink, void *data);

/* A line for the sink; both strings are clean. */
void graft_context_log(const char *sender, const char *text);

/* Tells that `done` of `total` are done of GRAFT_PROGRESS_... `what`. */
void graft_context_tell(int32_t what, int64_t done, int64_t total);

/* `program` NULL: nothing is tried. Returns GRAFT_OK or GRAFT_ERROR_INTERNAL. */
int graft_context_set_trials(struct graft_context *context, int32_t chooses, const char *program, int32_t again);

/* The program, a copy of the caller's, or NULL; `*again` as it was set. Returns GRAFT_OK or GRAFT_ERROR_INTERNAL. */
int graft_context_trials(char **program, int *again);

#endif
