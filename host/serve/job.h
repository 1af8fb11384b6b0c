/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request while its answer is made. The loop, which owns HTTP, makes a job and gives it to the engine, which owns the
 * sequences; from then on the engine says what happens by events, in order, and the last one gives the job back. Each
 * side touches its own members only.
 */
#ifndef GRAFT_SERVE_JOB_H
#define GRAFT_SERVE_JOB_H

#include <stdatomic.h>

#include "base/text.h"
#include "graft/host/sequences.h"
#include "serve/request.h"

struct evhttp_request;
struct event;
struct graft_job;
struct graft_server;

/* A token and how probable it was, with the most probable ones in its place. */
struct graft_token_info {
    int32_t id;
    float logprob;
    int n_top;
    struct {
        int32_t id;
        float logprob;
    } top[GRAFT_REQUEST_MAX_TOP];
};

enum graft_event_kind {
    GRAFT_EVENT_STARTED, /* the request is accepted: what it asks for can be done */
    GRAFT_EVENT_TEXT,
    GRAFT_EVENT_END,  /* of one choice */
    GRAFT_EVENT_DONE, /* of the job; job->error says if it failed */
};

struct graft_event {
    struct graft_event *next;
    struct graft_job *job;
    enum graft_event_kind kind;
    size_t choice;
    char *text; /* [length] of TEXT, may be NULL; freed with the event */
    size_t length;
    struct graft_token_info *info; /* of TEXT, or NULL; freed with the event */
    const char *reason;            /* of END: "stop" or "length" */
    int64_t tokens;                /* of END: how many the choice has */
};

void graft_event_free(struct graft_event *event);

/* What the engine keeps of a choice. */
struct graft_making {
    int64_t number; /* of its sequence */
    int is_running;
    struct graft_decode_stream *stream;
    struct graft_text held; /* what may be the beginning of a stop string */
    int64_t tokens;
};

/* What the loop keeps of a choice. */
struct graft_said {
    struct graft_text text;
    size_t sent;                    /* bytes of it that a stream has sent */
    struct graft_token_info *infos; /* [n_infos] */
    size_t n_infos;
    size_t infos_capacity;
    const char *reason;
    size_t offset; /* of the next token in the text: completions with logprobs */
};

struct graft_job {
    struct graft_job *next; /* in the engine's list, then in none */
    struct graft_server *server;
    struct graft_request request;
    struct graft_ids *prompts; /* [n_prompts] */
    size_t n_prompts;
    size_t n_choices; /* n_prompts * request.n, those of a prompt one after another */
    atomic_int is_cancelled;

    /* The engine's. */
    struct graft_making *making; /* [n_choices] */
    size_t n_running;
    struct graft_event *done; /* made with the job, so that its end never fails */

    /* The engine's until DONE. */
    struct graft_error error;
    int status;
    float *vectors; /* [n_prompts, vector_size] of embeddings */
    int64_t vector_size;

    /* The loop's. */
    struct graft_grammar *grammar; /* that the answers keep to; NULL: none, or a plugin's */
    struct graft_job *before;      /* in the server's list */
    struct graft_job *after;
    struct evhttp_request *http; /* NULL: the client has left */
    struct event *leaving;
    struct event *timer;
    struct graft_said *said; /* [n_choices] */
    int has_started;
    int has_token;
    int is_late;
    double begun; /* seconds */
    int64_t new_tokens;
    char id[48];
    int64_t created;
};

/* NULL if memory ran out. Takes request and prompts over, on success only. */
struct graft_job *graft_job_create(struct graft_server *server, struct graft_request *request,
                                   struct graft_ids *prompts, size_t n_prompts);
void graft_job_free(struct graft_job *job);

#endif
