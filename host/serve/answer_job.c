/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs and their clients: a job ends early when its client leaves or when it takes too long. */
#include "serve/answer_job.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <sys/socket.h>

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

int graft_job_watch(struct graft_job *job) {
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
    server->image_bytes += job->held_bytes;
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
    server->image_bytes -= job->held_bytes;
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
