/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of a server, for Prometheus and for the page. */
#include <event2/http.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "graft/host/plan.h"
#include "serve/server.h"

/* Upper bounds of the histogram of seconds to the first token; a last bucket has all larger times. */
static const double bounds[GRAFT_METRICS_BOUNDS] = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

void graft_metrics_answer(struct graft_metrics *metrics, int code) {
    for (size_t i = 0; i < GRAFT_METRICS_CODES; i++) {
        if (metrics->answers[i].code == code || metrics->answers[i].code == 0) {
            metrics->answers[i].code = code;
            metrics->answers[i].n++;
            return;
        }
    }
}

void graft_metrics_first_token(struct graft_metrics *metrics, double seconds) {
    size_t i = 0;
    while (i < GRAFT_METRICS_BOUNDS && seconds > bounds[i]) {
        i++;
    }
    metrics->first_token[i]++;
    metrics->first_token_sum += seconds;
}

static void add(struct graft_text *text, const char *name, const char *type, const char *help, double value) {
    graft_text_printf(text, "# HELP graft_%s %s\n# TYPE graft_%s %s\ngraft_%s %.17g\n", name, help, name, type, name,
                      value);
}

static void add_first_token(struct graft_text *text, const struct graft_metrics *metrics) {
    int64_t n = 0;
    graft_text_add_string(text, "# HELP graft_first_token_seconds From a request to the first token of its answer.\n"
                                "# TYPE graft_first_token_seconds histogram\n");
    for (size_t i = 0; i < GRAFT_METRICS_BOUNDS; i++) {
        n += metrics->first_token[i];
        graft_text_printf(text, "graft_first_token_seconds_bucket{le=\"%g\"} %lld\n", bounds[i], (long long)n);
    }
    n += metrics->first_token[GRAFT_METRICS_BOUNDS];
    graft_text_printf(text, "graft_first_token_seconds_bucket{le=\"+Inf\"} %lld\n", (long long)n);
    graft_text_printf(text, "graft_first_token_seconds_sum %.6f\ngraft_first_token_seconds_count %lld\n",
                      metrics->first_token_sum, (long long)n);
}

void graft_route_metrics(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    const struct graft_metrics *metrics = &server->metrics;
    struct graft_engine_counts counts;
    struct graft_text text = {0};
    (void)body, (void)length;
    graft_engine_get_counts(server->engine, &counts);
    graft_text_add_string(&text, "# HELP graft_http_answers_total Answers by their status.\n"
                                 "# TYPE graft_http_answers_total counter\n");
    for (size_t i = 0; i < GRAFT_METRICS_CODES && metrics->answers[i].code != 0; i++) {
        graft_text_printf(&text, "graft_http_answers_total{code=\"%d\"} %lld\n", metrics->answers[i].code,
                          (long long)metrics->answers[i].n);
    }
    add(&text, "prompt_tokens_total", "counter", "Tokens of the prompts of answers that ended.",
        (double)metrics->prompt_tokens);
    add(&text, "completion_tokens_total", "counter", "Tokens of answers that ended.",
        (double)metrics->completion_tokens);
    add(&text, "generated_tokens_total", "counter", "Tokens that the model has given.", (double)counts.new_tokens);
    add(&text, "read_tokens_total", "counter", "Tokens of prompts that went through the model.",
        (double)counts.prompt_tokens);
    add(&text, "shared_tokens_total", "counter", "Tokens of prompts that were reused from other prompts.",
        (double)counts.shared_tokens);
    add(&text, "session_loaded_tokens_total", "counter", "Tokens whose keys and values came from the session folder.",
        (double)counts.loaded_tokens);
    add(&text, "session_saved_tokens_total", "counter", "Tokens whose keys and values were written there.",
        (double)counts.saved_tokens);
    add(&text, "forwards_total", "counter", "Forwards of the model.", (double)counts.forwards);
    add(&text, "clients_left_total", "counter", "Clients that left before their answer ended.", (double)metrics->left);
    add(&text, "timeouts_total", "counter", "Answers that took too long.", (double)metrics->late);
    add(&text, "answers_in_progress", "gauge", "Answers that are made or wait for it.", (double)server->n_choices);
    add(&text, "cache_bytes", "gauge", "Memory that is reserved for sequences, with a limit.",
        (double)counts.cache_bytes);
    add(&text, "uptime_seconds", "counter", "Since the server was made.", graft_seconds() - metrics->began);
    add_first_token(&text, metrics);
    if (text.failed) {
        graft_http_send_json(server, http, 500, NULL);
    } else {
        graft_http_send_text(server, http, "text/plain; version=0.0.4; charset=utf-8", text.bytes, text.length);
    }
    graft_text_free(&text);
}

/* Sends the status that the page shows. */
void graft_route_status(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    struct graft_writer writer = {0};
    struct graft_engine_counts counts;
    graft_json *document = graft_json_new_object();
    graft_json *list = graft_json_new_array();
    (void)body, (void)length;
    graft_engine_get_counts(server->engine, &counts);
    for (const struct graft_job *job = server->jobs; job != NULL; job = job->after) {
        graft_json *item = graft_json_new_object();
        size_t bytes = 0;
        for (size_t i = 0; i < job->n_choices; i++) {
            bytes += job->said[i].text.length;
        }
        graft_writer_set_string(&writer, item, "id", job->id);
        graft_writer_set_string(&writer, item, "model", job->request.model);
        graft_writer_set_int(&writer, item, "prompt_tokens", job->n_prompts > 0 ? (int64_t)job->prompts[0].n : 0);
        graft_writer_set_int(&writer, item, "choices", (int64_t)job->n_choices);
        graft_writer_set_int(&writer, item, "bytes", (int64_t)bytes);
        graft_writer_set_real(&writer, item, "seconds", graft_seconds() - job->begun);
        graft_writer_append(&writer, list, item);
    }
    graft_writer_set_string(&writer, document, "model", server->options.name);
    graft_writer_set_bool(&writer, document, "has_chat", server->chat != NULL);
    graft_writer_set_int(&writer, document, "generated_tokens", counts.new_tokens);
    graft_writer_set_int(&writer, document, "read_tokens", counts.prompt_tokens);
    graft_writer_set_int(&writer, document, "shared_tokens", counts.shared_tokens);
    graft_writer_set_int(&writer, document, "steps", counts.steps);
    graft_writer_set_real(&writer, document, "uptime", graft_seconds() - server->metrics.began);
    graft_writer_set(&writer, document, "answers", list);
    graft_http_send_json(server, http, 200, graft_writer_finish(&writer, document));
}

void graft_route_plan(struct graft_server *server, struct evhttp_request *http, const char *body, size_t length) {
    struct graft_text text = {0};
    (void)body, (void)length;
    if (graft_model_plan_json(server->model, 0, &text, NULL) != GRAFT_OK) {
        graft_http_send_json(server, http, 500, NULL);
    } else {
        graft_http_send_text(server, http, "application/json", text.bytes, text.length);
    }
    graft_text_free(&text);
}
