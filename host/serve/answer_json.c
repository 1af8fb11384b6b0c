/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/answer.h"

#include "base/json_writer.h"
#include "serve/server.h"

static int is_chat(const struct graft_job *job) {
    return job->request.kind == GRAFT_REQUEST_CHAT;
}

graft_json *graft_answer_usage(const struct graft_job *job) {
    struct graft_writer writer = {0};
    graft_json *usage = graft_json_new_object();
    int64_t prompt = 0;
    for (size_t i = 0; i < job->n_prompts; i++) {
        prompt += (int64_t)job->prompts[i].n;
    }
    graft_writer_set_int(&writer, usage, "prompt_tokens", prompt);
    if (job->request.kind != GRAFT_REQUEST_EMBEDDING) {
        graft_writer_set_int(&writer, usage, "completion_tokens", job->new_tokens);
    }
    graft_writer_set_int(&writer, usage, "total_tokens", prompt + job->new_tokens);
    return graft_writer_finish(&writer, usage);
}

static graft_json *new_document(struct graft_writer *writer, const struct graft_job *job, const char *object) {
    graft_json *document = graft_json_new_object();
    graft_writer_set_string(writer, document, "id", job->id);
    graft_writer_set_string(writer, document, "object", object);
    graft_writer_set_int(writer, document, "created", job->created);
    graft_writer_set_string(writer, document, "model", job->request.model);
    return document;
}

/* --- Complete answers --- */

/* A choice's text, after the prompt if the request asks to echo it. */
static graft_json *text_of(const struct graft_job *job, size_t choice) {
    const struct graft_text *said = &job->said[choice].text;
    const struct graft_ids *ids = &job->prompts[choice / (size_t)job->request.n];
    struct graft_text text = {0};
    graft_json *value = NULL;
    if (job->request.echo && job->server->tokenizer != NULL) {
        (void)graft_tokenizer_decode(job->server->tokenizer, ids->ids, ids->n, 1, &text, NULL);
    }
    graft_text_add(&text, said->bytes != NULL ? said->bytes : "", said->length);
    value = text.failed ? NULL : graft_json_new_string_n(text.bytes, text.length);
    graft_text_free(&text);
    return value;
}

static void set_message(struct graft_writer *writer, const struct graft_job *job, size_t choice, graft_json *item,
                        const char **reason) {
    const struct graft_said *said = &job->said[choice];
    graft_json *message = graft_json_new_object();
    graft_json *calls = NULL;
    size_t content = said->text.length;
    int ran_out = 0;
    if (job->request.with_tools) {
        calls = graft_calls_parse(job->server, said->text.bytes, said->text.length, job->request.tools,
                                  job->request.parallel_calls, &content, &ran_out);
    }
    writer->failed |= ran_out;
    graft_writer_set_string(writer, message, "role", "assistant");
    graft_writer_set(writer, message, "content",
                     calls != NULL && content == 0 ? graft_json_new_string(NULL)
                                                   : graft_json_new_string_n(said->text.bytes, content));
    if (calls != NULL) {
        graft_writer_set(writer, message, "tool_calls", calls);
        *reason = "tool_calls";
    }
    graft_writer_set(writer, item, "message", message);
}

graft_json *graft_answer_json(const struct graft_job *job) {
    struct graft_writer writer = {0};
    graft_json *document = new_document(&writer, job, is_chat(job) ? "chat.completion" : "text_completion");
    graft_json *choices = graft_json_new_array();
    for (size_t i = 0; i < job->n_choices; i++) {
        const struct graft_said *said = &job->said[i];
        graft_json *item = graft_json_new_object();
        const char *reason = said->reason;
        size_t offset = 0;
        graft_writer_set_int(&writer, item, "index", (int64_t)i);
        if (is_chat(job)) {
            set_message(&writer, job, i, item, &reason);
        } else {
            graft_writer_set(&writer, item, "text", text_of(job, i));
        }
        graft_writer_set(&writer, item, "logprobs",
                         job->request.wants_logprobs ? graft_answer_logprobs(job, said->infos, said->n_infos, &offset)
                                                     : graft_json_new_string(NULL));
        graft_writer_set_string(&writer, item, "finish_reason", reason);
        graft_writer_append(&writer, choices, item);
    }
    graft_writer_set(&writer, document, "choices", choices);
    graft_writer_set(&writer, document, "usage", graft_answer_usage(job));
    return graft_writer_finish(&writer, document);
}

/* --- Streamed answers --- */

/* A chunk with one choice: `delta_take` for chats, or a text if it is NULL. */
static graft_json *new_chunk(const struct graft_job *job, size_t choice, const char *text, size_t length,
                             graft_json *delta_take, graft_json *logprobs_take, const char *reason) {
    struct graft_writer writer = {0};
    graft_json *document = new_document(&writer, job, is_chat(job) ? "chat.completion.chunk" : "text_completion");
    graft_json *choices = graft_json_new_array();
    graft_json *item = graft_json_new_object();
    graft_writer_set_int(&writer, item, "index", (int64_t)choice);
    if (is_chat(job)) {
        graft_writer_set(&writer, item, "delta", delta_take);
    } else {
        graft_writer_set(&writer, item, "text", graft_json_new_string_n(text, length));
    }
    graft_writer_set(&writer, item, "logprobs", logprobs_take);
    graft_writer_set_string(&writer, item, "finish_reason", reason);
    graft_writer_append(&writer, choices, item);
    graft_writer_set(&writer, document, "choices", choices);
    if (job->request.include_usage) {
        graft_writer_set_string(&writer, document, "usage", NULL);
    }
    return graft_writer_finish(&writer, document);
}

graft_json *graft_answer_first_chunk(const struct graft_job *job, size_t choice) {
    struct graft_writer writer = {0};
    graft_json *delta = graft_json_new_object();
    graft_writer_set_string(&writer, delta, "role", "assistant");
    graft_writer_set_string(&writer, delta, "content", "");
    return new_chunk(job, choice, NULL, 0, graft_writer_finish(&writer, delta), graft_json_new_string(NULL), NULL);
}

graft_json *graft_answer_text_chunk(const struct graft_job *job, size_t choice, const char *text, size_t length,
                                    const struct graft_token_info *info) {
    struct graft_writer writer = {0};
    graft_json *delta = NULL;
    graft_json *logprobs =
        info != NULL ? graft_answer_logprobs(job, info, 1, &job->said[choice].offset) : graft_json_new_string(NULL);
    if (is_chat(job)) {
        delta = graft_json_new_object();
        graft_writer_set(&writer, delta, "content", graft_json_new_string_n(text, length));
        delta = graft_writer_finish(&writer, delta);
    }
    return new_chunk(job, choice, text, length, delta, logprobs, NULL);
}

graft_json *graft_answer_calls_chunk(const struct graft_job *job, size_t choice, graft_json *calls_take) {
    struct graft_writer writer = {0};
    graft_json *delta = graft_json_new_object();
    for (size_t i = 0; i < graft_json_size(calls_take); i++) {
        graft_writer_set_int(&writer, (graft_json *)graft_json_at(calls_take, i), "index", (int64_t)i);
    }
    graft_writer_set(&writer, delta, "tool_calls", calls_take);
    return new_chunk(job, choice, NULL, 0, graft_writer_finish(&writer, delta), graft_json_new_string(NULL), NULL);
}

graft_json *graft_answer_end_chunk(const struct graft_job *job, size_t choice, const char *reason) {
    return new_chunk(job, choice, "", 0, is_chat(job) ? graft_json_new_object() : NULL, graft_json_new_string(NULL),
                     reason);
}

graft_json *graft_answer_usage_chunk(const struct graft_job *job) {
    struct graft_writer writer = {0};
    graft_json *document = new_document(&writer, job, is_chat(job) ? "chat.completion.chunk" : "text_completion");
    graft_writer_set(&writer, document, "choices", graft_json_new_array());
    graft_writer_set(&writer, document, "usage", graft_answer_usage(job));
    return graft_writer_finish(&writer, document);
}
