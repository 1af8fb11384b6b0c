/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a server, for the files of the loop: all of it is the loop's thread's. */
#ifndef GRAFT_SERVE_SERVER_H
#define GRAFT_SERVE_SERVER_H

#include "graft/host/serve.h"
#include "serve/engine.h"
#include "serve/fault.h"
#include "serve/request.h"

struct event_base;
struct graft_vocabulary;
struct evhttp;

enum { GRAFT_METRICS_CODES = 16, GRAFT_METRICS_BOUNDS = 12 };

/* What is counted for /metrics. */
struct graft_metrics {
    struct {
        int code;
        int64_t n;
    } answers[GRAFT_METRICS_CODES]; /* HTTP answers by their status */
    int64_t prompt_tokens;
    int64_t completion_tokens;
    int64_t left;                                  /* clients that did not wait for the end */
    int64_t late;                                  /* answers that took too long */
    int64_t first_token[GRAFT_METRICS_BOUNDS + 1]; /* histogram, seconds */
    double first_token_sum;
    double began; /* seconds, when the server was made */
};

struct graft_server {
    struct graft_model *model;
    const struct graft_tokenizer *tokenizer;
    const struct graft_chat_template *chat;
    struct graft_server_options options; /* with the defaults filled in; texts are copies */
    struct graft_generation generation;
    struct graft_request_context context;
    struct event_base *base;
    struct evhttp *http;
    struct event *waking; /* the engine has events */
    struct event *stopping;
    int wake;
    int stop;
    int32_t port;
    struct graft_engine *engine;
    struct graft_vocabulary *vocabulary; /* for the forms of answers; NULL: nobody has asked for one yet */
    struct graft_job *jobs;              /* that are not freed yet */
    size_t n_jobs;
    size_t n_choices;  /* of those */
    size_t n_flushing; /* answers on their way out */
    int is_stopping;
    uint64_t last_id;
    struct graft_metrics metrics;
};

/* A socket that listens where the options say, and its port; -1 with `error`. */
int graft_server_listen(const struct graft_server_options *options, int32_t *port, struct graft_error *error);

/* Ends the loop where it is to stop and nothing is left to do. */
void graft_server_check_end(struct graft_server *server);

/* 16 or so letters and digits that were not used before. */
void graft_server_new_id(struct graft_server *server, const char *prefix, char *id, size_t size);

/* --- HTTP --- */

/* The callback for all requests: checks what holds for all of them, and finds the route. */
void graft_http_on_request(struct evhttp_request *http, void *data);

/* Answers; `document_take` NULL: memory ran out. */
void graft_http_send_json(struct graft_server *server, struct evhttp_request *http, int code,
                          graft_json *document_take);
void graft_http_send_fault(struct graft_server *server, struct evhttp_request *http, const struct graft_fault *fault);
void graft_http_send_text(struct graft_server *server, struct evhttp_request *http, const char *type, const char *text,
                          size_t length);
/* Headers that each answer has, and that it is counted. */
void graft_http_begin(struct graft_server *server, struct evhttp_request *http, int code);

typedef void graft_route(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length);

graft_route graft_route_health, graft_route_models, graft_route_model, graft_route_chat, graft_route_completion,
    graft_route_embedding, graft_route_tokenize, graft_route_detokenize, graft_route_metrics, graft_route_status,
    graft_route_plan, graft_route_page;

/* --- Answers --- */

/* Takes what the engine says. */
void graft_answer_take_events(struct graft_server *server);

/* Ends all that is under way. */
void graft_answer_cancel_all(struct graft_server *server);

/* The metrics of an answer that goes out, and of a first token that took so many seconds. */
void graft_metrics_answer(struct graft_metrics *metrics, int code);
void graft_metrics_first_token(struct graft_metrics *metrics, double seconds);

#endif
