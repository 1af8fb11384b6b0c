/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the engine. */
#ifndef GRAFT_SERVE_ENGINE_PARTS_H
#define GRAFT_SERVE_ENGINE_PARTS_H

#include <pthread.h>

#include "serve/engine.h"

struct graft_engine {
    struct graft_engine_options options;
    struct graft_sequences *sequences;      /* NULL: the model generates nothing */
    struct graft_job *running;              /* list of running jobs; used by the engine's thread only */
    char noted[sizeof(struct graft_error)]; /* the last note, to avoid repeating it */
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
    int is_changed; /* something was submitted, cancelled or stopped */
    struct graft_engine_counts counts;
};

/* Begins a job. Returns 0, or -1 with job->error set. */
int graft_engine_begin(struct graft_engine *engine, struct graft_job *job);
int graft_engine_embed(struct graft_engine *engine, struct graft_job *job);

/* Checks that the session folder can be used with this model. */
int graft_engine_check_sessions(struct graft_engine *engine, struct graft_error *error);
/* Loads the beginning of a prompt from the session folder, if it has more of it than the sequences. */
void graft_engine_load_session(struct graft_engine *engine, const struct graft_ids *ids);
/* Writes to the session folder what prompts have had in common. */
void graft_engine_save_sessions(struct graft_engine *engine);

/* Removes the sequences of a job. */
void graft_engine_remove(struct graft_engine *engine, struct graft_job *job);

/* Handles the next token of a choice. Returns 0, or -1 with job->error set. */
int graft_engine_take_token(struct graft_engine *engine, struct graft_job *job, size_t choice,
                            const struct graft_sequence_token *token);

/* The logits processor for frequency_penalty and presence_penalty, as OpenAI defines them. Its data is the request. */
extern const struct graft_logits_processor graft_penalties;

#endif
