/* SPDX-License-Identifier: Apache-2.0 */
/* The server: creates, runs and ends the event loop on one thread and the engine on another. */
#include "serve/server.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/http.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "graft/host/grammar.h"
#include "graft/host/image.h"
#include "graft/host/model.h"
#include "serve/preparer.h"

enum {
    USUAL_RUNNING = 32,
    USUAL_WAITING = 64,
    USUAL_BODY = 4 << 20,
    USUAL_BODY_WITH_IMAGES = 16 << 20,
    USUAL_TIMEOUT = 600,
    USUAL_IDLE = 60,
    USUAL_TOKENS = 4096, /* for a model without a maximum length */
    USUAL_SESSIONS = 8,  /* GiB */
    MOST_HEADERS = 64 << 10
};

/* --- Options --- */

static void fill_in(struct graft_server_options *options, const struct graft_model *model) {
    const int64_t body = graft_model_image_token_id(model) >= 0 ? USUAL_BODY_WITH_IMAGES : USUAL_BODY;
    options->address = options->address != NULL ? options->address : "127.0.0.1";
    options->max_running = options->max_running > 0 ? options->max_running : USUAL_RUNNING;
    options->max_waiting = options->max_waiting > 0 ? options->max_waiting : USUAL_WAITING;
    options->max_body_bytes = options->max_body_bytes > 0 ? options->max_body_bytes : body;
    options->session_bytes = options->session_bytes > 0 ? options->session_bytes : (int64_t)USUAL_SESSIONS << 30;
    options->timeout_seconds = options->timeout_seconds > 0 ? options->timeout_seconds : USUAL_TIMEOUT;
    options->idle_seconds = options->idle_seconds > 0 ? options->idle_seconds : USUAL_IDLE;
}

static int copy_list(const char *const **list, size_t n) {
    const char *const *from = *list;
    const char **copies = graft_alloc(n + 1, sizeof *copies);
    int failed = copies == NULL;
    for (size_t i = 0; i < n && !failed; i++) {
        copies[i] = graft_strdup(from[i]);
        failed = copies[i] == NULL;
    }
    *list = copies;
    return failed ? -1 : 0;
}

static void free_list(const char *const *list) {
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        graft_free((char *)(uintptr_t)list[i]);
    }
    graft_free((const char **)(uintptr_t)list);
}

static int copy_options(struct graft_server *server, const struct graft_server_options *given) {
    struct graft_server_options *options = &server->options;
    graft_struct_copy(options, sizeof *options, given);
    fill_in(options, server->model);
    options->name = graft_strdup(options->name);
    options->cors_origin = options->cors_origin != NULL ? graft_strdup(options->cors_origin) : NULL;
    options->session_folder = options->session_folder != NULL ? graft_strdup(options->session_folder) : NULL;
    const int failed = copy_list(&options->adapters, options->n_adapters) != 0;
    return copy_list(&options->keys, options->n_keys) != 0 || failed || options->name == NULL ||
                   (given->cors_origin != NULL && options->cors_origin == NULL) ||
                   (given->session_folder != NULL && options->session_folder == NULL)
               ? -1
               : 0;
}

static int check_options(const struct graft_server_options *options, struct graft_error *error) {
    int status = options != NULL
                     ? graft_check_given(options, GRAFT_SERVER_OPTIONS_SIZE_1_0, "struct graft_server_options", error)
                     : graft_error_set(error, GRAFT_ERROR_USAGE, "options", "must not be NULL");
    if (status != GRAFT_OK) {
        return status;
    }
    if (options->name == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "name", "must not be NULL");
    }
    const struct {
        const char *name;
        int64_t value, maximum;
    } ranges[] = {{"port", options->port, UINT16_MAX},
                  {"max_running", options->max_running, 1024},
                  {"max_waiting", options->max_waiting, INT32_MAX},
                  {"max_body_bytes", options->max_body_bytes, 1 << 30},
                  {"session_bytes", options->session_bytes, INT64_MAX},
                  {"max_new_tokens", options->max_new_tokens, INT64_MAX},
                  {"timeout_seconds", options->timeout_seconds, INT64_MAX},
                  {"idle_seconds", options->idle_seconds, INT64_MAX}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (ranges[i].value < 0 || ranges[i].value > ranges[i].maximum) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, ranges[i].name, "expected 0 to %lld, got %lld",
                                   (long long)ranges[i].maximum, (long long)ranges[i].value);
        }
    }
    return GRAFT_OK;
}

/* Sets what reading requests depends on. */
static void set_context(struct graft_server *server) {
    const int64_t positions = graft_model_max_positions(server->model);
    const int64_t asked = server->options.max_new_tokens;
    server->generation.struct_size = sizeof server->generation;
    graft_model_generation(server->model, &server->generation);
    server->context = (struct graft_request_context){
        .name = server->options.name,
        .adapters = server->options.adapters,
        .n_adapters = server->options.n_adapters,
        .vocab_size = graft_model_vocab_size(server->model),
        .max_new_tokens = asked > 0       ? asked
                          : positions > 0 ? positions
                                          : USUAL_TOKENS,
        .generation = &server->generation,
    };
}

/* --- The loop --- */

void graft_server_check_end(struct graft_server *server) {
    if (server->is_stopping && server->jobs == NULL && server->n_flushing == 0) {
        (void)event_base_loopbreak(server->base);
    }
}

static void on_wake(evutil_socket_t fd, short what, void *data) {
    struct graft_server *server = data;
    uint64_t n = 0;
    (void)what;
    if (read(fd, &n, sizeof n) == (ssize_t)sizeof n) {
        graft_answer_take_events(server);
    }
    graft_server_check_end(server);
}

static void on_stop(evutil_socket_t fd, short what, void *data) {
    struct graft_server *server = data;
    uint64_t n = 0;
    (void)what;
    if (read(fd, &n, sizeof n) != (ssize_t)sizeof n) {
        return;
    }
    if (server->is_stopping || n > 1) {
        graft_answer_cancel_all(server);
    }
    server->is_stopping = 1;
    graft_server_check_end(server);
}

static int make_loop(struct graft_server *server) {
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    server->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    server->base = event_base_new();
    server->http = server->base != NULL ? evhttp_new(server->base) : NULL;
    if (server->wake < 0 || server->stop < 0 || server->http == NULL) {
        return -1;
    }
    server->waking = event_new(server->base, server->wake, EV_READ | EV_PERSIST, on_wake, server);
    server->stopping = event_new(server->base, server->stop, EV_READ | EV_PERSIST, on_stop, server);
    if (server->waking == NULL || server->stopping == NULL || event_add(server->waking, NULL) != 0 ||
        event_add(server->stopping, NULL) != 0) {
        return -1;
    }
    evhttp_set_allowed_methods(server->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_OPTIONS);
    evhttp_set_max_headers_size(server->http, MOST_HEADERS);
    /* libevent refuses bodies that are announced to be larger than this without a JSON error; smaller ones get one */
    evhttp_set_max_body_size(server->http, (ev_ssize_t)(2 * server->options.max_body_bytes));
    evhttp_set_timeout(server->http, server->options.idle_seconds);
    evhttp_set_default_content_type(server->http, "application/json");
    evhttp_set_gencb(server->http, graft_http_on_request, server);
    return 0;
}

static int listen_at(struct graft_server *server, struct graft_error *error) {
    const int fd = graft_server_listen(&server->options, &server->port, error);
    if (fd < 0) {
        return GRAFT_ERROR_IO;
    }
    if (evhttp_accept_socket(server->http, fd) != 0) {
        (void)close(fd);
        return graft_fail_memory(error, "serve");
    }
    return GRAFT_OK;
}

int graft_server_create(struct graft_model *model, const struct graft_tokenizer *tokenizer,
                        const struct graft_chat_template *chat, const struct graft_server_options *options,
                        struct graft_server **server, struct graft_error *error) {
    struct graft_error own = graft_error_none();
    error = error != NULL ? error : &own;
    int status = check_options(options, error);
    struct graft_server *result = status == GRAFT_OK ? graft_alloc(1, sizeof *result) : NULL;
    if (result == NULL) {
        return status == GRAFT_OK ? graft_fail_memory(error, "serve") : status;
    }
    result->model = model;
    result->tokenizer = tokenizer;
    result->chat = chat;
    result->wake = result->stop = -1;
    result->metrics.began = graft_seconds();
    if (copy_options(result, options) != 0 || make_loop(result) != 0) {
        status = graft_fail_memory(error, "serve");
    }
    if (status == GRAFT_OK) {
        const struct graft_engine_options wanted = {.model = model,
                                                    .tokenizer = tokenizer,
                                                    .max_running = result->options.max_running,
                                                    .max_cache_bytes = result->options.max_cache_bytes,
                                                    .session_folder = result->options.session_folder,
                                                    .session_bytes = result->options.session_bytes,
                                                    .on_note = result->options.on_note,
                                                    .note_data = result->options.note_data,
                                                    .wake = result->wake};
        set_context(result);
        status = graft_engine_create(&wanted, &result->engine, error);
    }
    if (status == GRAFT_OK && listen_at(result, error) != GRAFT_OK) {
        status = error->code;
    }
    if (status != GRAFT_OK) {
        graft_server_free(result);
        return status;
    }
    *server = result;
    return GRAFT_OK;
}

int32_t graft_server_port(const struct graft_server *server) {
    return server->port;
}

/* Blocks SIGPIPE in this thread and those that it starts, so that writing to a client that left does not end the
 * process. */
static void ignore_pipes(void) {
    sigset_t pipes;
    (void)sigemptyset(&pipes);
    (void)sigaddset(&pipes, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipes, NULL);
}

int graft_server_run(struct graft_server *server, struct graft_error *error) {
    ignore_pipes();
    int status = graft_engine_start(server->engine, error);
    if (status == GRAFT_OK && graft_model_image_token_id(server->model) >= 0) {
        status = graft_preparer_start(server, &server->preparer, error);
    }
    if (status == GRAFT_OK && event_base_dispatch(server->base) != 0) {
        status = graft_error_set(error, GRAFT_ERROR_INTERNAL, "serve", "the loop of events failed");
    }
    graft_answer_cancel_all(server);
    graft_preparer_stop(server->preparer);
    server->preparer = NULL;
    graft_answer_take_events(server); /* gives the engine what was read */
    graft_engine_stop(server->engine);
    graft_answer_take_events(server);
    return status;
}

void graft_server_stop(struct graft_server *server) {
    const uint64_t one = 1;
    const int number = errno;
    const ssize_t n = write(server->stop, &one, sizeof one);
    (void)n;
    errno = number;
}

void graft_server_free(struct graft_server *server) {
    if (server == NULL) {
        return;
    }
    if (server->http != NULL) {
        evhttp_free(server->http);
    }
    graft_engine_free(server->engine);
    graft_vocabulary_free(server->vocabulary);
    graft_image_processor_free(server->images);
    if (server->waking != NULL) {
        event_free(server->waking);
    }
    if (server->stopping != NULL) {
        event_free(server->stopping);
    }
    if (server->base != NULL) {
        event_base_free(server->base);
    }
    if (server->wake >= 0) {
        (void)close(server->wake);
    }
    if (server->stop >= 0) {
        (void)close(server->stop);
    }
    free_list(server->options.adapters);
    free_list(server->options.keys);
    graft_free((char *)(uintptr_t)server->options.name);
    graft_free((char *)(uintptr_t)server->options.cors_origin);
    graft_free((char *)(uintptr_t)server->options.session_folder);
    graft_free(server);
}
