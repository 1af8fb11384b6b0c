/* SPDX-License-Identifier: Apache-2.0 */
/* Turns requests into jobs, which end early when their client leaves or when they take too long. */
#include "serve/answer_job.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "graft/host/encode.h"
#include "graft/host/grammar.h"
#include "serve/server.h"

/* --- Clients that leave --- */

static void stop_looking(struct graft_job *job) {
    if (job->leaving != NULL) {
        event_free(job->leaving);
        job->leaving = NULL;
    }
    if (job->timer != NULL) {
        event_free(job->timer);
        job->timer = NULL;
    }
}

/* Called when the connection closes, which frees the request. If libevent noticed that while writing, the request has
 * to be freed here. */
static void on_close(struct evhttp_connection *connection, void *data) {
    struct graft_job *job = data;
    (void)connection;
    if (evhttp_request_get_connection(job->http) == NULL) {
        evhttp_request_free(job->http);
    }
    job->http = NULL;
    job->server->metrics.left++;
    stop_looking(job);
    graft_engine_cancel(job->server->engine, job);
}

void graft_job_drop_client(struct graft_job *job) {
    if (job != NULL && job->http != NULL) {
        evhttp_connection_free(evhttp_request_get_connection(job->http));
    }
}

/* Whether the client has closed the connection. Bytes that have arrived stay in the socket until after the answer. */
static int has_left(evutil_socket_t fd) {
    char byte;
    const ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Notices that a client leaves, since libevent does not read from a connection until it is answered. If another request
 * has arrived already, the socket stays readable, so it is checked once a second instead. */
static void on_leaving(evutil_socket_t fd, short what, void *data) {
    const struct timeval second = {1, 0};
    struct graft_job *job = data;
    if (has_left(fd)) {
        graft_job_drop_client(job);
        return;
    }
    if ((what & EV_READ) != 0) {
        event_free(job->leaving);
        job->leaving = event_new(job->server->base, fd, EV_CLOSED | EV_PERSIST, on_leaving, job);
    }
    if (job->leaving == NULL || event_add(job->leaving, &second) != 0) {
        graft_job_drop_client(job);
    }
}

static void on_late(evutil_socket_t fd, short what, void *data) {
    struct graft_job *job = data;
    (void)fd, (void)what;
    job->is_late = 1;
    graft_engine_cancel(job->server->engine, job);
}

static int watch(struct graft_job *job) {
    const struct timeval most = {job->server->options.timeout_seconds, 0};
    struct evhttp_connection *connection = evhttp_request_get_connection(job->http);
    const evutil_socket_t fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
    job->leaving = event_new(job->server->base, fd, EV_READ | EV_CLOSED, on_leaving, job);
    job->timer = evtimer_new(job->server->base, on_late, job);
    if (job->leaving == NULL || job->timer == NULL || event_add(job->leaving, NULL) != 0 ||
        event_add(job->timer, &most) != 0) {
        return -1;
    }
    evhttp_connection_set_closecb(connection, on_close, job);
    return 0;
}

/* --- All jobs --- */

void graft_job_link(struct graft_job *job) {
    struct graft_server *server = job->server;
    job->before = NULL;
    job->after = server->jobs;
    if (server->jobs != NULL) {
        server->jobs->before = job;
    }
    server->jobs = job;
    server->n_choices += job->n_choices;
    server->image_bytes += job->request.image_bytes;
}

void graft_job_unlink(struct graft_job *job) {
    struct graft_server *server = job->server;
    if (job->before != NULL) {
        job->before->after = job->after;
    } else {
        server->jobs = job->after;
    }
    if (job->after != NULL) {
        job->after->before = job->before;
    }
    server->n_choices -= job->n_choices;
    server->image_bytes -= job->request.image_bytes;
}

void graft_answer_cancel_all(struct graft_server *server) {
    for (struct graft_job *job = server->jobs; job != NULL; job = job->after) {
        graft_engine_cancel(server->engine, job);
    }
}

/* --- Answers on their way out --- */

static void on_flushed_close(struct evhttp_connection *connection, void *data) {
    struct graft_server *server = data;
    (void)connection;
    server->n_flushing--;
    graft_server_check_end(server);
}

static void on_flushed(struct evhttp_request *http, void *data) {
    evhttp_connection_set_closecb(evhttp_request_get_connection(http), NULL, NULL);
    on_flushed_close(NULL, data);
}

void graft_job_await_client(const struct graft_job *job, int is_awaited) {
    const struct timeval idle = {job->server->options.idle_seconds, 0};
    struct evhttp_connection *connection = evhttp_request_get_connection(job->http);
    bufferevent_set_timeouts(evhttp_connection_get_bufferevent(connection), is_awaited ? &idle : NULL, &idle);
}

struct evhttp_request *graft_job_release(struct graft_job *job) {
    struct evhttp_request *http = job->http;
    stop_looking(job);
    if (http != NULL) {
        graft_job_await_client(job, 1);
        job->http = NULL;
        job->server->n_flushing++;
        evhttp_connection_set_closecb(evhttp_request_get_connection(http), on_flushed_close, job->server);
        evhttp_request_set_on_complete_cb(http, on_flushed, job->server);
    }
    return http;
}

/* --- Requests --- */

void graft_server_new_id(struct graft_server *server, const char *prefix, char *id, size_t size) {
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char random[24];
    int n = snprintf(id, size, "%s", prefix);
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        server->last_id++;
        for (size_t i = 0; i < sizeof random; i++) {
            random[i] = (unsigned char)(server->last_id >> i % 8 * 8);
        }
    }
    for (size_t i = 0; i < sizeof random && n >= 0 && (size_t)n + 1 < size; i++) {
        id[n++] = digits[random[i] % (sizeof digits - 1)];
    }
    id[n >= 0 ? n : 0] = '\0';
}

static int check_room(const struct graft_server *server, size_t choices, struct graft_fault *fault) {
    const size_t most = (size_t)server->options.max_running + (size_t)server->options.max_waiting;
    if (server->is_stopping) {
        return graft_fault_set(fault, 503, "stopping", NULL, "the server stops");
    }
    return server->n_choices + choices <= most
               ? 0
               : graft_fault_set(fault, 429, "queue_full", NULL, "%zu answers are being made or wait, of at most %zu",
                                 server->n_choices, most);
}

static int check_task(const struct graft_server *server, enum graft_request_kind kind, struct graft_fault *fault) {
    const int generates = graft_model_task(server->model) == GRAFT_TASK_CAUSAL_LM;
    if (kind == GRAFT_REQUEST_EMBEDDING) {
        struct graft_embedding_info info = {.struct_size = sizeof info};
        return graft_model_embedding(server->model, &info, NULL) == GRAFT_OK
                   ? 0
                   : graft_fault_set(fault, 400, "unsupported_value", "model", "the model gives no vectors of texts");
    }
    return generates ? 0
                     : graft_fault_set(fault, 400, "unsupported_value", "model", "the model does not generate text");
}

static uint64_t any_seed(void) {
    uint64_t seed = 0;
    return getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed ? seed : (uint64_t)time(NULL);
}

static void submit(struct graft_server *server, struct graft_job *job, struct evhttp_request *http) {
    const int is_chat = job->request.kind == GRAFT_REQUEST_CHAT;
    job->http = http;
    job->begun = graft_seconds();
    job->created = (int64_t)time(NULL);
    graft_server_new_id(server, is_chat ? "chatcmpl-" : "cmpl-", job->id, 34);
    if (!job->request.has_seed) {
        job->request.generation.seed = any_seed();
    }
    if (watch(job) != 0) {
        struct graft_fault fault = {0};
        (void)graft_fault_memory(&fault);
        stop_looking(job);
        graft_job_free(job);
        graft_http_send_fault(server, http, &fault);
        return;
    }
    graft_job_link(job);
    graft_engine_submit(server->engine, job);
}

/* Chooses the logits processor that enforces the answer's format. Its sequences have ended when the job is freed. */
static int choose_format(struct graft_server *server, struct graft_job *job, struct graft_fault *fault) {
    struct graft_request *request = &job->request;
    struct graft_error error = graft_error_none();
    const struct graft_grammar_text text = {.struct_size = sizeof text,
                                            .kind = request->format_kind,
                                            .text = request->format,
                                            .length = request->format != NULL ? strlen(request->format) : 0,
                                            .source = request->format_name};
    int status = GRAFT_OK;
    if (request->format == NULL) {
        return 0;
    }
    if (server->tokenizer == NULL) {
        return graft_fault_set(fault, 400, "unsupported_value", request->format_name, "the model has no tokenizer");
    }
    if (server->vocabulary == NULL) {
        status = graft_vocabulary_create(server->tokenizer, &server->vocabulary, &error);
    }
    if (status == GRAFT_OK) {
        status = graft_model_choose_grammar(server->model, server->vocabulary, &text, &job->grammar,
                                            &request->processors[0], &error);
    }
    request->n_processors = status == GRAFT_OK;
    return status == GRAFT_OK ? 0 : graft_fault_from_error(fault, &error, request->format_name);
}

static void answer(struct graft_server *server, struct evhttp_request *http, enum graft_request_kind kind,
                   const char *body, size_t length) {
    struct graft_request request = {0};
    struct graft_fault fault = {0};
    struct graft_ids *prompts = NULL;
    struct graft_job *job = NULL;
    size_t n = 0;
    int failed = check_room(server, 1, &fault) != 0 || check_task(server, kind, &fault) != 0 ||
                 graft_request_read(body, length, kind, &server->context, &request, &fault) != 0 ||
                 graft_server_encode(server, &request, &prompts, &n, &fault) != 0 ||
                 check_room(server, n * (size_t)request.n, &fault) != 0;
    if (!failed && (job = graft_job_create(server, &request, prompts, n)) == NULL) {
        failed = graft_fault_memory(&fault) != 0;
    }
    if (!failed && choose_format(server, job, &fault) != 0) {
        graft_job_free(job); /* with the request and the prompts */
        prompts = NULL;
        failed = 1;
    }
    if (failed) {
        graft_request_prompts_free(prompts, n);
        graft_request_finish(&request);
        graft_http_send_fault(server, http, &fault);
        return;
    }
    submit(server, job, http);
}

void graft_route_completion(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    answer(server, http, GRAFT_REQUEST_COMPLETION, body, length);
}

void graft_route_chat(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    answer(server, http, GRAFT_REQUEST_CHAT, body, length);
}

void graft_route_embedding(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    answer(server, http, GRAFT_REQUEST_EMBEDDING, body, length);
}
