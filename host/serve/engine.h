/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: a thread that owns the sequences. It takes jobs, generates their answers as one batch, and reports by
 * events. */
#ifndef GRAFT_SERVE_ENGINE_H
#define GRAFT_SERVE_ENGINE_H

#include "serve/job.h"

struct graft_engine;
struct graft_model;

struct graft_engine_options {
    struct graft_model *model;
    const struct graft_tokenizer *tokenizer; /* or NULL */
    int32_t max_running;
    int64_t max_cache_bytes;
    const char *session_folder;                    /* keeps what prompts have in common; NULL: nothing is kept */
    int64_t session_bytes;                         /* of its files */
    void (*on_note)(void *data, const char *note); /* [engine's thread] called with what went wrong there; or NULL */
    void *note_data;
    int wake; /* an eventfd, written to when there are events */
};

/* What the engine has done so far, for metrics. */
struct graft_engine_counts {
    int64_t forwards;
    int64_t steps;
    int64_t prompt_tokens;
    int64_t shared_tokens;
    int64_t new_tokens;
    int64_t cache_bytes;
    int64_t loaded_tokens; /* from the session folder */
    int64_t saved_tokens;
};

int graft_engine_create(const struct graft_engine_options *options, struct graft_engine **engine,
                        struct graft_error *error);

/* Starts the thread. */
int graft_engine_start(struct graft_engine *engine, struct graft_error *error);
/* Ends the thread. Its jobs are returned unfinished. */
void graft_engine_stop(struct graft_engine *engine);
void graft_engine_free(struct graft_engine *engine);

/* [any] Submits a job, which the engine owns until its DONE event. */
void graft_engine_submit(struct graft_engine *engine, struct graft_job *job);
/* [any] Cancels a job before the next step. Its DONE event still comes. */
void graft_engine_cancel(struct graft_engine *engine, struct graft_job *job);
/* [any] Posts an event to the loop. */
void graft_engine_post(struct graft_engine *engine, struct graft_event *event);
/* [any] Takes the events since the last call, in order; the caller frees them. */
struct graft_event *graft_engine_take_events(struct graft_engine *engine);
/* [any] Copies the current counts. */
void graft_engine_get_counts(struct graft_engine *engine, struct graft_engine_counts *counts);

#endif
