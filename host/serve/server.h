/* SPDX-License-Identifier: Apache-2.0 */
/* The content of a server, for the files of the loop. Only the loop's thread accesses it. */
#ifndef GRAFT_SERVE_SERVER_H
#define GRAFT_SERVE_SERVER_H

#include "graft/host/serve.h"
#include "serve/engine.h"
#include "serve/fault.h"
#include "serve/request.h"

struct event_base;
struct graft_image_processor;
struct graft_preparer;
struct graft_vocabulary;
struct evhttp;

enum { GRAFT_METRICS_CODES = 16, GRAFT_METRICS_BOUNDS = 12 };

/* Counters for /metrics. */
struct graft_metrics {
    struct {
        int code;
        int64_t n;
    } answers[GRAFT_METRICS_CODES]; /* HTTP answers by status */
    int64_t prompt_tokens;
    int64_t completion_tokens;
    int64_t left;                                  /* clients that left before the end */
    int64_t late;                                  /* answers that timed out */
    int64_t first_token[GRAFT_METRICS_BOUNDS + 1]; /* histogram, seconds */
    double first_token_sum;
    double began; /* time when the server was created, in seconds */
};

struct graft_server {
    struct graft_model *model;
    const struct graft_tokenizer *tokenizer;
    const struct graft_chat_template *chat;
    struct graft_server_options options; /* options with defaults filled in; strings are copies */
    struct graft_generation generation;
    struct graft_request_context context;
    struct event_base *base;
    struct evhttp *http;
    struct event *waking; /* fires when the engine has events */
    struct event *stopping;
    int wake;
    int stop;
    int32_t port;
    struct graft_engine *engine;
    struct graft_vocabulary *vocabulary;  /* vocabulary for formats of answers; NULL until the first request for one */
    struct graft_preparer *preparer;      /* NULL: the model takes no images */
    struct graft_image_processor *images; /* the preparer's; NULL until the first request with an image */
    int64_t image_bytes;                  /* bytes that the jobs hold for images */
    struct graft_job *jobs;               /* jobs that are not freed yet */
    size_t n_choices;                     /* choices of these jobs */
    size_t n_flushing;                    /* answers being sent */
    int is_stopping;
    uint64_t last_id;
    struct graft_metrics metrics;
};

/* Opens the socket that the options ask for, and sets its port. Returns -1 with `error` set on failure. */
int graft_server_listen(const struct graft_server_options *options, int32_t *port, struct graft_error *error);

/* Ends the loop if the server is stopping and no job is left. */
void graft_server_check_end(struct graft_server *server);

/* Makes a new id: `prefix` followed by random letters and digits. */
void graft_server_new_id(struct graft_server *server, const char *prefix, char *id, size_t size);

/* Encodes the prompts of a request, including its images. Otherwise like graft_request_encode. */
int graft_server_encode(struct graft_server *server, struct graft_request *request, struct graft_ids **prompts,
                        size_t *n, struct graft_fault *fault);

/* --- HTTP --- */

/* The callback for all requests: checks them and finds the route. */
void graft_http_on_request(struct evhttp_request *http, void *data);

/* Sends an answer. `document_take` NULL means that memory ran out. */
void graft_http_send_json(struct graft_server *server, struct evhttp_request *http, int code,
                          graft_json *document_take);
void graft_http_send_fault(struct graft_server *server, struct evhttp_request *http, const struct graft_fault *fault);
void graft_http_send_text(struct graft_server *server, struct evhttp_request *http, const char *type, const char *text,
                          size_t length);
/* Adds the headers of every answer, and counts it. */
void graft_http_begin(struct graft_server *server, struct evhttp_request *http, int code);

typedef void graft_route(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length);

graft_route graft_route_health, graft_route_models, graft_route_model, graft_route_chat, graft_route_completion,
    graft_route_embedding, graft_route_tokenize, graft_route_detokenize, graft_route_metrics, graft_route_status,
    graft_route_plan, graft_route_page;

/* --- Answers --- */

/* Handles the events of the engine. */
void graft_answer_take_events(struct graft_server *server);

/* Cancels all jobs. */
void graft_answer_cancel_all(struct graft_server *server);

/* Count an answer by its status, and a first token by the seconds it took. */
void graft_metrics_answer(struct graft_metrics *metrics, int code);
void graft_metrics_first_token(struct graft_metrics *metrics, double seconds);

#endif
