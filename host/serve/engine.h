/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that owns the sequences: takes jobs, makes their answers side by side, and says what happens by events. */
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
    int wake; /* an eventfd that is written to when there are events */
};

/* What the engine has done so far, for whoever watches. */
struct graft_engine_counts {
    int64_t forwards;
    int64_t steps;
    int64_t prompt_tokens;
    int64_t shared_tokens;
    int64_t new_tokens;
    int64_t cache_bytes;
    int64_t sequences; /* now, waiting ones included */
};

int graft_engine_create(const struct graft_engine_options *options, struct graft_engine **engine,
                        struct graft_error *error);

/* Starts the thread. */
int graft_engine_start(struct graft_engine *engine, struct graft_error *error);
/* Ends it: jobs that it has are given back, unfinished. */
void graft_engine_stop(struct graft_engine *engine);
void graft_engine_free(struct graft_engine *engine);

/* [any] Hands a job over. */
void graft_engine_submit(struct graft_engine *engine, struct graft_job *job);
/* [any] The job ends before the next step; its DONE still comes. */
void graft_engine_cancel(struct graft_engine *engine, struct graft_job *job);
/* [any] The events since the last call, in order: the caller's. */
struct graft_event *graft_engine_take_events(struct graft_engine *engine);
/* [any] */
void graft_engine_get_counts(struct graft_engine *engine, struct graft_engine_counts *counts);

#endif
