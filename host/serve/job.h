/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job: a request while its answer is generated. The loop, which owns HTTP, creates a job and submits it to the
 * engine, which owns the sequences. The engine reports by events, in order, and the last event returns the job. Each
 * side accesses its own members only.
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

/* A token, its log probability, and the most probable tokens at its place. */
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
    GRAFT_EVENT_READ,    /* the preparer has prepared the job, or job->fault says why it could not */
    GRAFT_EVENT_STARTED, /* the request was accepted */
    GRAFT_EVENT_TEXT,
    GRAFT_EVENT_END,  /* the end of a choice */
    GRAFT_EVENT_DONE, /* the end of the job; job->error says whether it failed */
};

struct graft_event {
    struct graft_event *next;
    struct graft_job *job;
    enum graft_event_kind kind;
    size_t choice;
    char *text; /* for TEXT: [length] bytes, may be NULL; freed with the event */
    size_t length;
    struct graft_token_info *info; /* for TEXT: logprobs, or NULL; freed with the event */
    const char *reason;            /* for END: "stop" or "length" */
    int64_t tokens;                /* for END: number of tokens of the choice */
};

void graft_event_free(struct graft_event *event);

/* The engine's state of a choice. */
struct graft_making {
    int64_t number; /* number of its sequence */
    int is_running;
    struct graft_decode_stream *stream;
    struct graft_text held; /* text that may begin a stop string */
    int64_t tokens;
};

/* The text of one choice, and how much of it has been sent. Used by the server's loop. */
struct graft_said {
    struct graft_text text;
    size_t sent;                    /* bytes of the text that the stream has sent */
    struct graft_token_info *infos; /* [n_infos] */
    size_t n_infos;
    size_t infos_capacity;
    const char *reason;
    size_t offset; /* for completions with logprobs: offset of the next token in the text */
};

struct graft_job {
    struct graft_job *next; /* next job in the engine's list */
    struct graft_server *server;
    struct graft_request request;
    struct graft_ids *prompts; /* [n_prompts] */
    size_t n_prompts;
    size_t n_choices; /* n_prompts * request.n; the choices of a prompt are consecutive */
    atomic_int is_cancelled;

    /* The engine's. */
    struct graft_making *making; /* [n_choices] */
    size_t n_running;
    struct graft_event *done; /* allocated with the job, so that ending it cannot fail */

    /* The preparer's until READ, as are the request's messages and images. */
    struct graft_event *read; /* allocated with the job; NULL once posted */
    struct graft_ids *read_prompts;
    size_t n_read_prompts;
    struct graft_fault fault;

    /* The engine's until DONE. */
    struct graft_error error;
    float *vectors; /* for embeddings: [n_prompts, vector_size] */
    int64_t vector_size;

    /* The loop's. */
    struct graft_grammar *grammar; /* grammar that the answers follow; NULL: none, or a plugin's */
    struct graft_job *before;      /* neighbours in the server's list */
    struct graft_job *after;
    struct evhttp_request *http; /* NULL: the client has left */
    int64_t held_bytes;          /* images in the request's body, then their pixel values */
    struct event *leaving;
    struct event *timer;
    struct graft_said *said; /* [n_choices] */
    int has_started;
    int has_token;
    int is_late;
    double begun; /* time when the job began, in seconds */
    int64_t new_tokens;
    char id[48];
    int64_t created;
};

/* Creates a job, or returns NULL if memory ran out. On success it owns the request and the prompts. If `prompts` is
 * NULL, the preparer makes the one that there will be. */
struct graft_job *graft_job_create(struct graft_server *server, struct graft_request *request,
                                   struct graft_ids *prompts, size_t n_prompts);
void graft_job_free(struct graft_job *job);

#endif
