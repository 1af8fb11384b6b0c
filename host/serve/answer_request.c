/* SPDX-License-Identifier: Apache-2.0 */
/* Turns requests into jobs and submits them: to the preparer if they have images, else to the engine. */
#include <event2/buffer.h>
#include <event2/http.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "graft/host/encode.h"
#include "graft/host/grammar.h"
#include "serve/answer_job.h"
#include "serve/preparer.h"
#include "serve/server.h"

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

int graft_job_check_images(const struct graft_server *server, int64_t bytes, struct graft_fault *fault) {
    static const int64_t most = 2LL << 30;
    return bytes == 0 || server->image_bytes == 0 || server->image_bytes + bytes <= most
               ? 0
               : graft_fault_set(fault, 429, "queue_full", NULL,
                                 "the images of other requests leave no room for these: %lld of %lld MiB are taken",
                                 (long long)(server->image_bytes >> 20), (long long)(most >> 20));
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

/* Submits a job. Its request no longer needs the body, which is freed. */
static void submit(struct graft_server *server, struct graft_job *job, struct evhttp_request *http) {
    const int is_chat = job->request.kind == GRAFT_REQUEST_CHAT;
    struct evbuffer *body = evhttp_request_get_input_buffer(http);
    (void)evbuffer_drain(body, evbuffer_get_length(body));
    job->http = http;
    job->begun = graft_seconds();
    job->created = (int64_t)time(NULL);
    graft_server_new_id(server, is_chat ? "chatcmpl-" : "cmpl-", job->id, 34);
    if (!job->request.has_seed) {
        job->request.generation.seed = any_seed();
    }
    if (graft_job_watch(job) != 0) {
        struct graft_fault fault = {0};
        (void)graft_fault_memory(&fault);
        graft_job_free(job);
        graft_http_send_fault(server, http, &fault);
        return;
    }
    graft_job_link(job);
    if (job->prompts == NULL) {
        graft_preparer_submit(server->preparer, job);
    } else {
        graft_engine_submit(server->engine, job);
    }
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

/* Makes a job of a request that was read, and submits it. `length` is that of its body. */
static int begin(struct graft_server *server, struct evhttp_request *http, struct graft_request *request, size_t length,
                 struct graft_fault *fault) {
    const int has_images = server->preparer != NULL && graft_request_has_images(request);
    const int64_t bytes = has_images ? (int64_t)length : 0;
    struct graft_ids *prompts = NULL;
    struct graft_job *job = NULL;
    size_t n = 1; /* a request with images is one prompt, which the preparer encodes later */
    if (graft_job_check_images(server, bytes, fault) != 0 ||
        (!has_images && graft_server_encode(server, request, &prompts, &n, fault) != 0) ||
        check_room(server, n * (size_t)request->n, fault) != 0) {
        graft_request_prompts_free(prompts, n);
        return -1;
    }
    job = graft_job_create(server, request, prompts, n);
    if (job == NULL) {
        graft_request_prompts_free(prompts, n);
        return graft_fault_memory(fault);
    }
    job->held_bytes = bytes;
    if (choose_format(server, job, fault) != 0) {
        graft_job_free(job); /* with the request and the prompts */
        return -1;
    }
    submit(server, job, http);
    return 0;
}

static void answer(struct graft_server *server, struct evhttp_request *http, enum graft_request_kind kind,
                   const char *body, size_t length) {
    struct graft_request request = {0};
    struct graft_fault fault = {0};
    if (check_room(server, 1, &fault) != 0 || check_task(server, kind, &fault) != 0 ||
        graft_request_read(body, length, kind, &server->context, &request, &fault) != 0 ||
        begin(server, http, &request, length, &fault) != 0) {
        graft_http_send_fault(server, http, &fault);
    }
    graft_request_finish(&request);
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

void graft_route_tokenize(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    struct graft_request request = {0};
    struct graft_fault fault = {0};
    struct graft_ids *prompts = NULL;
    size_t n = 0;
    int failed = graft_request_read(body, length, GRAFT_REQUEST_TOKENIZE, &server->context, &request, &fault) != 0;
    if (!failed && server->preparer != NULL && graft_request_has_images(&request)) {
        failed = check_room(server, 1, &fault) != 0 || begin(server, http, &request, length, &fault) != 0;
    } else if (!failed) {
        failed = graft_server_encode(server, &request, &prompts, &n, &fault) != 0;
        if (!failed && n != 1) {
            failed = graft_fault_set(&fault, 400, "invalid_value", "prompt", "prompt: expected one text") != 0;
        }
        if (!failed) {
            graft_http_send_json(server, http, 200, graft_tokens_json(server, &prompts[0]));
        }
    }
    if (failed) {
        graft_http_send_fault(server, http, &fault);
    }
    graft_request_prompts_free(prompts, n);
    graft_request_finish(&request);
}
