/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the engine's results to clients: at the end, or piece by piece as events of a stream. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "serve/answer.h"
#include "serve/answer_job.h"
#include "serve/server.h"

enum { MOST_UNSENT = 16 << 20 }; /* the connection of a client that leaves more than this unread is closed */

/* --- Streams --- */

/* Sends one event. `document_take` NULL means that memory ran out: the stream then ends. */
static void send_chunk(struct graft_job *job, graft_json *document_take) {
    char *text = document_take != NULL ? graft_json_dump(document_take, 0) : NULL;
    struct evbuffer *buffer = evbuffer_new();
    graft_json_free(document_take);
    if (job->http == NULL || text == NULL || buffer == NULL || evbuffer_add_printf(buffer, "data: %s\n\n", text) < 0) {
        graft_job_drop_client(text == NULL || buffer == NULL ? job : NULL);
    } else {
        struct bufferevent *out = evhttp_connection_get_bufferevent(evhttp_request_get_connection(job->http));
        evhttp_send_reply_chunk(job->http, buffer);
        if (evbuffer_get_length(bufferevent_get_output(out)) > MOST_UNSENT) {
            graft_job_drop_client(job);
        }
    }
    if (buffer != NULL) {
        evbuffer_free(buffer);
    }
    graft_free(text);
}

static void start_stream(struct graft_job *job) {
    graft_http_begin(job->server, job->http, 200);
    (void)evhttp_add_header(evhttp_request_get_output_headers(job->http), "Content-Type", "text/event-stream");
    graft_job_await_client(job, 0);
    evhttp_send_reply_start(job->http, 200, "OK");
    for (size_t i = 0; i < job->n_choices && job->http != NULL && job->request.kind == GRAFT_REQUEST_CHAT; i++) {
        send_chunk(job, graft_answer_first_chunk(job, i));
    }
}

static void take_started(struct graft_job *job) {
    job->has_started = 1;
    if (job->http != NULL && job->request.stream) {
        start_stream(job);
    }
}

/* Streams text. If there are tools, text that may be a call is held back until the end. */
static void stream_text(struct graft_job *job, size_t choice, const struct graft_event *event) {
    struct graft_said *said = &job->said[choice];
    const size_t known = job->request.with_tools ? graft_calls_begin(said->text.bytes, said->text.length, said->sent)
                                                 : said->text.length;
    if (known > said->sent || event->info != NULL) {
        const size_t from = said->sent;
        said->sent = known > from ? known : from;
        send_chunk(job, graft_answer_text_chunk(job, choice, said->text.bytes + from, said->sent - from, event->info));
    }
}

static int keep_info(struct graft_said *said, const struct graft_token_info *info) {
    if (info == NULL) {
        return 0;
    }
    if (graft_grow(&said->infos, &said->infos_capacity, said->n_infos, sizeof *said->infos) != 0) {
        return -1;
    }
    said->infos[said->n_infos++] = *info;
    return 0;
}

static void take_text(struct graft_job *job, const struct graft_event *event) {
    struct graft_said *said = &job->said[event->choice];
    if (!job->has_token) {
        job->has_token = 1;
        graft_metrics_first_token(&job->server->metrics, graft_seconds() - job->begun);
    }
    graft_text_add(&said->text, event->text != NULL ? event->text : "", event->length);
    if (said->text.failed || (!job->request.stream && keep_info(said, event->info) != 0)) {
        graft_job_drop_client(job);
    } else if (job->http != NULL && job->request.stream) {
        stream_text(job, event->choice, event);
    }
}

static void stream_end(struct graft_job *job, size_t choice) {
    struct graft_said *said = &job->said[choice];
    graft_json *calls = NULL;
    size_t content = said->text.length;
    const char *reason = said->reason;
    int ran_out = 0;
    if (job->request.with_tools) {
        calls = graft_calls_parse(job->server, said->text.bytes, said->text.length, job->request.tools,
                                  job->request.parallel_calls, &content, &ran_out);
    }
    if (ran_out) {
        graft_job_drop_client(job);
        return;
    }
    if (content > said->sent) {
        send_chunk(job,
                   graft_answer_text_chunk(job, choice, said->text.bytes + said->sent, content - said->sent, NULL));
    }
    if (calls != NULL && job->http != NULL) {
        send_chunk(job, graft_answer_calls_chunk(job, choice, calls));
        reason = "tool_calls";
    } else {
        graft_json_free(calls);
    }
    if (job->http != NULL) {
        send_chunk(job, graft_answer_end_chunk(job, choice, reason));
    }
}

static void take_end(struct graft_job *job, const struct graft_event *event) {
    job->said[event->choice].reason = event->reason;
    job->new_tokens += event->tokens;
    if (job->http != NULL && job->request.stream) {
        stream_end(job, event->choice);
    }
}

/* --- The end --- */

static int find_fault(const struct graft_job *job, struct graft_fault *fault) {
    if (job->fault.http != 0) {
        *fault = job->fault;
        return -1;
    }
    if (job->error.code != GRAFT_OK) {
        return graft_fault_from_error(fault, &job->error, NULL);
    }
    if (job->is_late) {
        return graft_fault_set(fault, 504, "timeout", NULL, "the answer took longer than %d seconds",
                               (int)job->server->options.timeout_seconds);
    }
    return atomic_load(&job->is_cancelled) ? graft_fault_set(fault, 503, "stopped", NULL, "the server stops") : 0;
}

static void finish_stream(struct graft_job *job, const struct graft_fault *fault) {
    struct evbuffer *last = evbuffer_new();
    if (fault->http != 0) {
        send_chunk(job, graft_fault_json(fault));
    } else if (job->request.include_usage) {
        send_chunk(job, graft_answer_usage_chunk(job));
    }
    if (job->http != NULL && last != NULL && fault->http == 0) {
        (void)evbuffer_add_printf(last, "data: [DONE]\n\n");
        evhttp_send_reply_chunk(job->http, last);
    }
    if (last != NULL) {
        evbuffer_free(last);
    }
}

static graft_json *answer_of(const struct graft_job *job) {
    switch (job->request.kind) {
    case GRAFT_REQUEST_EMBEDDING:
        return graft_job_vectors_json(job);
    case GRAFT_REQUEST_TOKENIZE:
        return graft_tokens_json(job->server, &job->prompts[0]);
    default:
        return graft_answer_json(job);
    }
}

static void finish(struct graft_job *job) {
    struct graft_fault fault = {0};
    const int failed = find_fault(job, &fault) != 0;
    const int is_stream = job->request.stream && job->has_started;
    job->server->metrics.late += job->is_late;
    if (job->http != NULL && is_stream) {
        finish_stream(job, &fault);
    }
    struct evhttp_request *http = graft_job_release(job);
    if (http == NULL) {
        return;
    }
    if (is_stream) {
        evhttp_send_reply_end(http);
    } else if (failed) {
        graft_http_send_fault(job->server, http, &fault);
    } else {
        graft_http_send_json(job->server, http, 200, answer_of(job));
    }
}

static void end_job(struct graft_job *job) {
    finish(job);
    graft_job_unlink(job);
    graft_job_free(job);
}

static void take_done(struct graft_job *job) {
    struct graft_server *server = job->server;
    for (size_t i = 0; i < job->n_prompts; i++) {
        server->metrics.prompt_tokens += (int64_t)job->prompts[i].n;
    }
    server->metrics.completion_tokens += job->new_tokens;
    end_job(job);
}

/* Takes the prompts from the preparer. Instead of the request's body, the job now holds pixel values. */
static void take_read(struct graft_job *job) {
    struct graft_server *server = job->server;
    job->prompts = job->read_prompts;
    job->n_prompts = job->n_read_prompts;
    job->read_prompts = NULL;
    server->image_bytes -= job->held_bytes;
    job->held_bytes = 0;
    if (job->fault.http == 0 && graft_job_check_images(server, job->request.image_bytes, &job->fault) == 0) {
        job->held_bytes = job->request.image_bytes;
        server->image_bytes += job->held_bytes;
    }
    if (job->fault.http != 0 || job->request.kind == GRAFT_REQUEST_TOKENIZE) {
        end_job(job);
    } else {
        graft_engine_submit(server->engine, job);
    }
}

void graft_answer_take_events(struct graft_server *server) {
    struct graft_event *event = graft_engine_take_events(server->engine);
    while (event != NULL) {
        struct graft_event *next = event->next;
        struct graft_job *job = event->job;
        switch (event->kind) {
        case GRAFT_EVENT_READ:
            take_read(job);
            break;
        case GRAFT_EVENT_STARTED:
            take_started(job);
            break;
        case GRAFT_EVENT_TEXT:
            take_text(job, event);
            break;
        case GRAFT_EVENT_END:
            take_end(job, event);
            break;
        case GRAFT_EVENT_DONE:
        default:
            take_done(job);
            break;
        }
        graft_event_free(event);
        event = next;
    }
}
