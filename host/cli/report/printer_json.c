/* SPDX-License-Identifier: Apache-2.0 */
/* `run --json` of a model that generates. */
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/report/printer.h"
#include "graft/host/process.h"

/* A token as the vocabulary spells it; null for an id without a token. */
static graft_json *token_json(const struct graft_tokenizer *tokenizer, int32_t id) {
    size_t length = 0;
    const char *token = graft_tokenizer_token(tokenizer, id, &length);
    return token != NULL ? graft_json_new_string_n(token, length) : graft_json_new_string(NULL);
}

static graft_json *logprob_json(struct graft_writer *writer, const struct graft_printer *printer,
                                const struct graft_logprob *logprob) {
    graft_json *object = graft_json_new_object();
    graft_writer_set_int(writer, object, "id", logprob->id);
    if (printer->tokenizer != NULL) {
        graft_writer_set(writer, object, "token", token_json(printer->tokenizer, logprob->id));
    }
    graft_writer_set_real(writer, object, "logprob", logprob->logprob);
    return object;
}

static graft_json *logprobs_json(struct graft_writer *writer, const struct graft_printer *printer,
                                 const struct graft_logprobs *logprobs) {
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < logprobs->n; i += 1 + logprobs->n_top) {
        graft_json *object = logprob_json(writer, printer, &logprobs->items[i]);
        graft_json *top = graft_json_new_array();
        for (size_t j = 1; j <= logprobs->n_top; j++) {
            graft_writer_append(writer, top, logprob_json(writer, printer, &logprobs->items[i + j]));
        }
        graft_writer_set(writer, object, "top", top);
        graft_writer_append(writer, array, object);
    }
    return array;
}

static int sequence_json(struct graft_writer *writer, const struct graft_printer *printer, size_t i,
                         graft_json *sequences, struct graft_error *error) {
    const struct graft_printed *printed = &printer->sequences[i];
    const int is_stopped = printed->end == GRAFT_SEQUENCE_STOPPED;
    const size_t prompt = i / printer->per_prompt;
    graft_json *object = graft_json_new_object();
    graft_json *ids = graft_json_new_array();
    struct graft_text text = {0};
    int status = GRAFT_OK;
    for (size_t j = 0; j < printed->ids.n; j++) {
        graft_writer_append(writer, ids, graft_json_new_int(printed->ids.ids[j]));
    }
    graft_writer_set_int(writer, object, "prompt", (int64_t)prompt);
    graft_writer_set_int(writer, object, "prompt_tokens", (int64_t)printer->prompts->prompts[prompt].count);
    graft_writer_set(writer, object, "ids", ids);
    if (printer->tokenizer != NULL) {
        status = graft_tokenizer_decode(printer->tokenizer, printed->ids.ids, printed->ids.n,
                                        !printer->options->keep_special_tokens, &text, error);
        graft_writer_set(writer, object, "text",
                         graft_json_new_string_n(text.bytes != NULL ? text.bytes : "", text.length));
        graft_text_free(&text);
    }
    graft_writer_set_string(writer, object, "finish_reason", is_stopped ? "stop" : "length");
    if (printer->options->logprobs >= 0) {
        graft_writer_set(writer, object, "logprobs", logprobs_json(writer, printer, &printed->logprobs));
    }
    graft_writer_append(writer, sequences, object);
    return status;
}

/* Sets a rate per second; null if the time is 0. */
static void set_rate(struct graft_writer *writer, graft_json *object, const char *key, int64_t count, double seconds) {
    graft_writer_set(writer, object, key,
                     seconds > 0.0 && count > 0 ? graft_json_new_real((double)count / seconds)
                                                : graft_json_new_string(NULL));
}

/* Sets seconds; null if they are below 0, which means unknown. */
static void set_seconds(struct graft_writer *writer, graft_json *object, const char *key, double seconds) {
    graft_writer_set(writer, object, key, seconds >= 0.0 ? graft_json_new_real(seconds) : graft_json_new_string(NULL));
}

/* Makes the timings. Reading the prompts lasts until every sequence has its first token. */
static graft_json *timings_json(struct graft_writer *writer, const struct graft_printer *printer) {
    graft_json *object = graft_json_new_object();
    double prompt = printer->comes_at_end ? -1.0 : printer->first - printer->start;
    double generation = printer->last - (printer->comes_at_end ? printer->start : printer->first);
    int64_t prompt_tokens = 0, new_tokens = 0, first_tokens = 0;
    for (size_t i = 0; i < printer->prompts->count; i++) {
        prompt_tokens += (int64_t)printer->prompts->prompts[i].count;
    }
    for (size_t i = 0; i < printer->n; i++) {
        new_tokens += (int64_t)printer->sequences[i].ids.n;
        first_tokens += !printer->comes_at_end && printer->sequences[i].ids.n > 0;
    }
    graft_writer_set_real(writer, object, "load_seconds", graft_model_load_seconds(printer->model));
    set_seconds(writer, object, "prompt_seconds", prompt);
    set_seconds(writer, object, "generation_seconds", generation);
    graft_writer_set_int(writer, object, "prompt_tokens", prompt_tokens);
    graft_writer_set_int(writer, object, "new_tokens", new_tokens);
    set_rate(writer, object, "prompt_tokens_per_second", prompt_tokens, prompt);
    set_rate(writer, object, "generation_tokens_per_second", new_tokens - first_tokens, generation);
    return object;
}

int graft_printer_json(const struct graft_printer *printer, graft_json **document, struct graft_error *error) {
    struct graft_writer writer = {0};
    graft_json *sequences = graft_json_new_array();
    int status = GRAFT_OK;
    *document = graft_json_new_object();
    for (size_t i = 0; i < printer->n && status == GRAFT_OK; i++) {
        status = sequence_json(&writer, printer, i, sequences, error);
    }
    graft_writer_set_string(&writer, *document, "model", graft_model_plan(printer->model)->directory);
    graft_writer_set(&writer, *document, "sequences", sequences);
    graft_writer_set(&writer, *document, "timings", timings_json(&writer, printer));
    return status == GRAFT_OK && writer.failed ? graft_fail_memory(error, "--json") : status;
}
