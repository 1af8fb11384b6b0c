/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the engine share. */
#ifndef GRAFT_SERVE_ENGINE_PARTS_H
#define GRAFT_SERVE_ENGINE_PARTS_H

#include <pthread.h>

#include "serve/engine.h"

struct graft_engine {
    struct graft_engine_options options;
    struct graft_sequences *sequences; /* NULL: the model generates nothing */
    struct graft_job *running;         /* the thread's own list */
    pthread_t thread;
    int has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Under the mutex. */
    struct graft_job *submitted; /* in order */
    struct graft_job *last_submitted;
    struct graft_event *events; /* in order */
    struct graft_event *last_event;
    int is_stopping;
    int is_changed; /* there is something to look at */
    struct graft_engine_counts counts;
};

/* Tells the loop. */
void graft_engine_post(struct graft_engine *engine, struct graft_event *event);

/* Begins a job: 0, or -1 with job->error. */
int graft_engine_begin(struct graft_engine *engine, struct graft_job *job);
int graft_engine_embed(struct graft_engine *engine, struct graft_job *job);

/* Takes the sequences of a job out. */
void graft_engine_remove(struct graft_engine *engine, struct graft_job *job);

/* Gives a choice its next token. 0, or -1 with job->error. */
int graft_engine_take_token(struct graft_engine *engine, struct graft_job *job, size_t choice,
                            const struct graft_sequence_token *token);

/* frequency_penalty and presence_penalty, as OpenAI defines them: a logits processor whose data is the request. */
extern const struct graft_logits_processor graft_penalties;

#endif
