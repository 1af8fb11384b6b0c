/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of request bodies. A field that is not listed for the route is refused. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graft/host/image.h"
#include "serve/request_parts.h"

int graft_request_expected(struct graft_reading *reading, const char *name, const char *expected,
                           const graft_json *value) {
    return graft_fault_set(reading->fault, 400, "invalid_type", name, "%s: expected %s, got %s", name, expected,
                           graft_json_type_name(value));
}

/* Reads a value as a row of a table says (base/json_field.h). */
static int read_member(struct graft_reading *reading, const struct graft_member *member, const char *name,
                       const graft_json *value, void *into) {
    char message[GRAFT_MEMBER_MESSAGE];
    switch (graft_member_read(member, value, into, message)) {
    case GRAFT_MEMBER_READ:
        return 0;
    case GRAFT_MEMBER_WRONG_TYPE:
        return graft_fault_set(reading->fault, 400, "invalid_type", name, "%s: %s", name, message);
    case GRAFT_MEMBER_NO_MEMORY:
        return graft_fault_memory(reading->fault);
    case GRAFT_MEMBER_OUT_OF_BOUNDS:
    default:
        return graft_fault_set(reading->fault, 400, "invalid_value", name, "%s: %s", name, message);
    }
}

/* Reads logprobs, a number of tokens for completions and a flag for chats. */
static int read_logprobs(struct graft_reading *reading, const char *name, const graft_json *value) {
    static const struct graft_member flag = {.kind = GRAFT_MEMBER_FLAG},
                                     number = {.kind = GRAFT_MEMBER_INT, .most = GRAFT_REQUEST_MAX_TOP};
    struct graft_request *request = reading->request;
    request->wants_logprobs = 1;
    return request->kind == GRAFT_REQUEST_CHAT ? read_member(reading, &flag, name, value, &request->wants_logprobs)
                                               : read_member(reading, &number, name, value, &request->n_top);
}

static int read_stream_options(struct graft_reading *reading, const char *name, const graft_json *value) {
    static const struct graft_member flag = {.kind = GRAFT_MEMBER_FLAG};
    static const char *const keys[] = {"include_usage", NULL};
    const graft_json *usage = graft_json_get(value, "include_usage");
    const char *other = graft_json_other_key(value, keys);
    if (graft_json_type(value) != GRAFT_JSON_OBJECT) {
        return graft_request_expected(reading, name, "an object", value);
    }
    if (other != NULL) {
        return graft_fault_set(reading->fault, 400, "unknown_parameter", "stream_options",
                               "stream_options.%.100s: unknown field", other);
    }
    return usage == NULL
               ? 0
               : read_member(reading, &flag, "stream_options.include_usage", usage, &reading->request->include_usage);
}

/* Accepts only the one value that is supported. */
static int only_false(struct graft_reading *reading, const char *name, const graft_json *value) {
    static const struct graft_member member = {.kind = GRAFT_MEMBER_FLAG};
    int flag = 0;
    if (read_member(reading, &member, name, value, &flag) != 0) {
        return -1;
    }
    return flag ? graft_fault_set(reading->fault, 400, "unsupported_value", name, "%s: is not done here", name) : 0;
}

static int read_best_of(struct graft_reading *reading, const char *name, const graft_json *value) {
    static const struct graft_member member = {.kind = GRAFT_MEMBER_INT, .least = 1, .most = GRAFT_REQUEST_MAX_CHOICES};
    int64_t n = 0;
    if (read_member(reading, &member, name, value, &n) != 0) {
        return -1;
    }
    return n == 1 ? 0
                  : graft_fault_set(reading->fault, 400, "unsupported_value", name,
                                    "%s: answers are not chosen from several; n gives them all", name);
}

enum {
    COMPLETION = GRAFT_REQUEST_COMPLETION,
    CHAT = GRAFT_REQUEST_CHAT,
    EMBEDDING = GRAFT_REQUEST_EMBEDDING,
    TOKENIZE = GRAFT_REQUEST_TOKENIZE,
    DETOKENIZE = GRAFT_REQUEST_DETOKENIZE,
    ANSWER = COMPLETION | CHAT,
    ANY = ANSWER | EMBEDDING | TOKENIZE | DETOKENIZE
};

#define AT(member) .offset = offsetof(struct graft_request, member)

static const char *const encodings[] = {"float", "base64", NULL}, *const tiers[] = {"auto", "default", NULL};

/* The fields, in the order in which they are read, whatever their order in the body. A field is stored in the request,
 * or read by a function if its value has a more complex type. Fields that are skipped are for a service's own
 * book-keeping, and do not change the answer. */
static const struct field {
    int kinds;
    struct graft_member member;
    graft_field_reader *read;
} fields[] = {
    {ANY, {.key = "model"}, graft_read_model},
    {COMPLETION | TOKENIZE, {"prompt", GRAFT_MEMBER_ANY, AT(prompt)}, NULL},
    {EMBEDDING, {"input", GRAFT_MEMBER_ANY, AT(prompt)}, NULL},
    {CHAT | TOKENIZE, {"messages", GRAFT_MEMBER_ANY, AT(messages)}, NULL},
    {DETOKENIZE, {"tokens", GRAFT_MEMBER_ANY, AT(ids)}, NULL},
    {ANSWER, {"stream", GRAFT_MEMBER_FLAG, AT(stream)}, NULL},
    {ANSWER, {.key = "stream_options"}, read_stream_options},
    {ANSWER, {"n", GRAFT_MEMBER_INT, AT(n), .least = 1, .most = GRAFT_REQUEST_MAX_CHOICES}, NULL},
    {COMPLETION, {.key = "best_of"}, read_best_of},
    {ANSWER, {"max_tokens", GRAFT_MEMBER_INT, AT(max_tokens), .least = 1, .most = INT32_MAX}, NULL},
    {CHAT, {"max_completion_tokens", GRAFT_MEMBER_INT, AT(max_tokens), .least = 1, .most = INT32_MAX}, NULL},
    {ANSWER, {"min_tokens", GRAFT_MEMBER_INT, AT(generation.min_new_tokens), .most = INT32_MAX}, NULL},
    {ANSWER, {"temperature", GRAFT_MEMBER_REAL, AT(generation.temperature), .most = 100}, NULL},
    {ANSWER, {"top_p", GRAFT_MEMBER_REAL, AT(generation.top_p), .most = 1}, NULL},
    {ANSWER, {"top_k", GRAFT_MEMBER_INT, AT(generation.top_k), .least = -1, .most = INT32_MAX}, NULL},
    {ANSWER, {"min_p", GRAFT_MEMBER_REAL, AT(generation.min_p), .most = 1}, NULL},
    {ANSWER, {"frequency_penalty", GRAFT_MEMBER_REAL, AT(frequency_penalty), .least = -2, .most = 2}, NULL},
    {ANSWER, {"presence_penalty", GRAFT_MEMBER_REAL, AT(presence_penalty), .least = -2, .most = 2}, NULL},
    {ANSWER,
     {"repetition_penalty", GRAFT_MEMBER_REAL, AT(generation.repetition_penalty), .least = 1e-3, .most = 1e3},
     NULL},
    {ANSWER, {"seed", GRAFT_MEMBER_INT, AT(generation.seed)}, NULL},
    {ANSWER, {.key = "stop"}, graft_read_stop},
    {ANSWER, {.key = "stop_token_ids"}, graft_read_stop_ids},
    {ANSWER, {"ignore_eos", GRAFT_MEMBER_FLAG, AT(generation.ignore_eos)}, NULL},
    {ANSWER, {.key = "logit_bias"}, graft_read_bias},
    {ANSWER, {.key = "logprobs"}, read_logprobs},
    {CHAT, {"top_logprobs", GRAFT_MEMBER_INT, AT(n_top), .most = GRAFT_REQUEST_MAX_TOP}, NULL},
    {COMPLETION, {"echo", GRAFT_MEMBER_FLAG, AT(echo)}, NULL},
    {ANSWER, {"skip_special_tokens", GRAFT_MEMBER_FLAG, AT(skip_special)}, NULL},
    {ANSWER, {.key = "response_format"}, graft_read_format},
    {CHAT | TOKENIZE, {.key = "tools"}, graft_read_tools},
    {CHAT, {.key = "tool_choice"}, graft_read_tool_choice}, /* after tools and response_format */
    {CHAT, {"parallel_tool_calls", GRAFT_MEMBER_FLAG, AT(parallel_calls)}, NULL},
    {CHAT | TOKENIZE, {"documents", GRAFT_MEMBER_ANY, AT(documents)}, NULL},
    {CHAT | TOKENIZE, {"chat_template_kwargs", GRAFT_MEMBER_ANY, AT(variables)}, NULL},
    {CHAT | TOKENIZE, {"add_generation_prompt", GRAFT_MEMBER_FLAG, AT(add_generation_prompt)}, NULL},
    {CHAT | TOKENIZE, {"continue_final_message", GRAFT_MEMBER_FLAG, AT(continue_final_message)}, NULL},
    {TOKENIZE | COMPLETION, {"add_special_tokens", GRAFT_MEMBER_FLAG, AT(add_special)}, NULL},
    {EMBEDDING, {"encoding_format", GRAFT_MEMBER_CHOICE, AT(is_base64), .names = encodings}, NULL},
    {CHAT, {.key = "store"}, only_false},
    {CHAT, {"service_tier", GRAFT_MEMBER_CHOICE, AT(service_tier), .names = tiers}, NULL},
    {ANSWER | EMBEDDING, {"user", .kind = GRAFT_MEMBER_SKIPPED}, NULL},
    {CHAT, {"metadata", .kind = GRAFT_MEMBER_SKIPPED}, NULL},
    {CHAT, {"safety_identifier", .kind = GRAFT_MEMBER_SKIPPED}, NULL},
    {CHAT, {"prompt_cache_key", .kind = GRAFT_MEMBER_SKIPPED}, NULL},
};

enum { N_FIELDS = sizeof fields / sizeof fields[0] };

static int check_names(struct graft_reading *reading, const graft_json *document) {
    const char *key = NULL;
    const graft_json *value = NULL;
    void *iterator = NULL;
    while (graft_json_next(document, &iterator, &key, &value)) {
        int is_known = 0;
        for (size_t i = 0; i < N_FIELDS && !is_known; i++) {
            is_known = strcmp(fields[i].member.key, key) == 0 && (fields[i].kinds & (int)reading->request->kind) != 0;
        }
        /* null counts as absent */
        if (!is_known && graft_json_type(value) != GRAFT_JSON_NULL) {
            return graft_fault_set(reading->fault, 400, "unknown_parameter", key,
                                   "%.100s: this route has no such field", key);
        }
    }
    return 0;
}

int graft_request_read(const char *body, size_t length, enum graft_request_kind kind,
                       const struct graft_request_context *context, struct graft_request *request,
                       struct graft_fault *fault) {
    struct graft_reading reading = {context, request, fault};
    struct graft_error error = graft_error_none();
    *request = (struct graft_request){.kind = kind,
                                      .n = 1,
                                      .max_tokens = -1,
                                      .add_special = 1,
                                      .skip_special = 1,
                                      .parallel_calls = 1,
                                      .add_generation_prompt = 1,
                                      .model = context->name,
                                      .generation = *context->generation};
    if (graft_json_parse_strict(body, length, "body", &request->document, &error) != GRAFT_OK) {
        return error.code == GRAFT_ERROR_INTERNAL
                   ? graft_fault_memory(fault)
                   : graft_fault_set(fault, 400, "invalid_json", NULL, "the body is not JSON: %s", error.message);
    }
    if (graft_json_type(request->document) != GRAFT_JSON_OBJECT) {
        return graft_fault_set(fault, 400, "invalid_json", NULL, "the body: expected an object, got %s",
                               graft_json_type_name(request->document));
    }
    int failed = check_names(&reading, request->document);
    for (size_t i = 0; i < N_FIELDS && !failed; i++) {
        const struct graft_member *member = &fields[i].member;
        const graft_json *value = graft_json_get(request->document, member->key);
        if ((fields[i].kinds & (int)kind) != 0 && graft_json_type(value) > GRAFT_JSON_NULL) {
            failed = fields[i].read != NULL
                         ? fields[i].read(&reading, member->key, value)
                         : read_member(&reading, member, member->key, value, (char *)request + member->offset);
        }
    }
    return failed ? -1 : graft_request_complete(&reading);
}

void graft_request_finish(struct graft_request *request) {
    graft_json_free(request->document);
    graft_free(request->biases);
    graft_free(request->bias_ids);
    graft_free(request->stop_ids);
    graft_free(request->format);
    for (size_t i = 0; i < request->n_images; i++) {
        graft_image_finish(&request->images[i]);
    }
    graft_free(request->images);
    *request = (struct graft_request){0};
}
