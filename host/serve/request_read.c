/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of request bodies. A field that is not listed for the route is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graft/host/image.h"
#include "serve/request_parts.h"

int graft_field_expected(struct graft_reading *reading, const char *name, const char *expected,
                         const graft_json *value) {
    return graft_fault_set(reading->fault, 400, "invalid_type", name, "%s: expected %s, got %s", name, expected,
                           graft_json_type_name(value));
}

static int read_real(struct graft_reading *reading, const char *name, const graft_json *value, double least,
                     double most, double *number) {
    const enum graft_json_type type = graft_json_type(value);
    *number = graft_json_real(value);
    if (type != GRAFT_JSON_INT && type != GRAFT_JSON_REAL) {
        return graft_field_expected(reading, name, "a number", value);
    }
    return *number >= least && *number <= most
               ? 0
               : graft_fault_set(reading->fault, 400, "invalid_value", name,
                                 "%s: expected a number from %g to %g, got %g", name, least, most, *number);
}

static int read_int(struct graft_reading *reading, const char *name, const graft_json *value, int64_t least,
                    int64_t most, int64_t *number) {
    *number = graft_json_int(value);
    if (graft_json_type(value) != GRAFT_JSON_INT) {
        return graft_field_expected(reading, name, "an integer", value);
    }
    return *number >= least && *number <= most
               ? 0
               : graft_fault_set(reading->fault, 400, "invalid_value", name,
                                 "%s: expected an integer from %lld to %lld, got %lld", name, (long long)least,
                                 (long long)most, (long long)*number);
}

static int read_flag(struct graft_reading *reading, const char *name, const graft_json *value, int *flag) {
    *flag = graft_json_bool(value);
    return graft_json_type(value) == GRAFT_JSON_BOOL ? 0 : graft_field_expected(reading, name, "true or false", value);
}

#define READS_FLAG(function, member)                                                                \
    static int function(struct graft_reading *reading, const char *name, const graft_json *value) { \
        return read_flag(reading, name, value, &reading->request->member);                          \
    }

#define READS_REAL(function, member, least, most)                                                   \
    static int function(struct graft_reading *reading, const char *name, const graft_json *value) { \
        return read_real(reading, name, value, least, most, &reading->request->member);             \
    }

#define READS_INT(function, member, least, most)                                                    \
    static int function(struct graft_reading *reading, const char *name, const graft_json *value) { \
        return read_int(reading, name, value, least, most, &reading->request->member);              \
    }

#define KEEPS(function, member)                                                                     \
    static int function(struct graft_reading *reading, const char *name, const graft_json *value) { \
        (void)name;                                                                                 \
        reading->request->member = value;                                                           \
        return 0;                                                                                   \
    }

READS_FLAG(read_stream, stream)
READS_FLAG(read_echo, echo)
READS_FLAG(read_add_special, add_special)
READS_FLAG(read_parallel_calls, parallel_calls)
READS_FLAG(read_opens, add_generation_prompt)
READS_FLAG(read_continues, continue_final_message)
READS_FLAG(read_ignore_eos, generation.ignore_eos)
READS_REAL(read_frequency, frequency_penalty, -2.0, 2.0)
READS_REAL(read_presence, presence_penalty, -2.0, 2.0)
READS_REAL(read_repetition, generation.repetition_penalty, 1e-3, 1e3)
READS_INT(read_n, n, 1, GRAFT_REQUEST_MAX_CHOICES)
READS_INT(read_max_tokens, max_tokens, 1, INT32_MAX)
READS_INT(read_min_tokens, generation.min_new_tokens, 0, INT32_MAX)
KEEPS(read_prompt, prompt)
KEEPS(read_messages, messages)
KEEPS(read_documents, documents)
KEEPS(read_variables, variables)
KEEPS(read_ids, ids)

static int read_temperature(struct graft_reading *reading, const char *name, const graft_json *value) {
    struct graft_request *request = reading->request;
    double temperature = 0.0;
    int failed = read_real(reading, name, value, 0.0, 100.0, &temperature);
    request->has_temperature = 1;
    request->asks_for_chance = temperature > 0.0;
    request->generation.temperature = temperature > 0.0 ? temperature : 1.0;
    return failed;
}

static int read_top_p(struct graft_reading *reading, const char *name, const graft_json *value) {
    double part = 0.0;
    if (read_real(reading, name, value, 0.0, 1.0, &part) != 0) {
        return -1;
    }
    reading->request->generation.top_p = part > 0.0 ? part : 1e-9; /* the most probable token alone */
    reading->request->asks_for_chance |= !reading->request->has_temperature;
    return 0;
}

/* Reads top_k, where -1 means no limit, as in other servers. */
static int read_top_k(struct graft_reading *reading, const char *name, const graft_json *value) {
    int64_t k = 0;
    if (read_int(reading, name, value, -1, INT32_MAX, &k) != 0) {
        return -1;
    }
    reading->request->generation.top_k = k > 0 ? k : 0;
    reading->request->asks_for_chance |= !reading->request->has_temperature;
    return 0;
}

static int read_min_p(struct graft_reading *reading, const char *name, const graft_json *value) {
    reading->request->asks_for_chance |= !reading->request->has_temperature;
    return read_real(reading, name, value, 0.0, 1.0, &reading->request->generation.min_p);
}

static int read_seed(struct graft_reading *reading, const char *name, const graft_json *value) {
    int64_t seed = 0;
    int failed = read_int(reading, name, value, INT64_MIN, INT64_MAX, &seed);
    reading->request->generation.seed = (uint64_t)seed;
    reading->request->has_seed = 1;
    return failed;
}

/* Reads logprobs, a number of tokens for completions and a flag for chats. */
static int read_logprobs(struct graft_reading *reading, const char *name, const graft_json *value) {
    struct graft_request *request = reading->request;
    int64_t n = 0;
    if (request->kind == GRAFT_REQUEST_CHAT) {
        return read_flag(reading, name, value, &request->wants_logprobs);
    }
    request->wants_logprobs = 1;
    int failed = read_int(reading, name, value, 0, GRAFT_REQUEST_MAX_TOP, &n);
    request->n_top = (int)n;
    return failed;
}

static int read_top_logprobs(struct graft_reading *reading, const char *name, const graft_json *value) {
    int64_t n = 0;
    int failed = read_int(reading, name, value, 0, GRAFT_REQUEST_MAX_TOP, &n);
    reading->request->n_top = (int)n;
    return failed;
}

static int read_stream_options(struct graft_reading *reading, const char *name, const graft_json *value) {
    static const char *const keys[] = {"include_usage", NULL};
    const graft_json *usage = graft_json_get(value, "include_usage");
    const char *other = graft_json_other_key(value, keys);
    if (graft_json_type(value) != GRAFT_JSON_OBJECT) {
        return graft_field_expected(reading, name, "an object", value);
    }
    if (other != NULL) {
        return graft_fault_set(reading->fault, 400, "unknown_parameter", "stream_options",
                               "stream_options.%.100s: there is no such option", other);
    }
    return usage == NULL ? 0
                         : read_flag(reading, "stream_options.include_usage", usage, &reading->request->include_usage);
}

static int read_skip_special(struct graft_reading *reading, const char *name, const graft_json *value) {
    int skips = 1;
    int failed = read_flag(reading, name, value, &skips);
    reading->request->keeps_special = !skips;
    return failed;
}

static int read_encoding_format(struct graft_reading *reading, const char *name, const graft_json *value) {
    const char *text = graft_json_string(value, NULL);
    if (text == NULL) {
        return graft_field_expected(reading, name, "a string", value);
    }
    reading->request->is_base64 = strcmp(text, "base64") == 0;
    return reading->request->is_base64 || strcmp(text, "float") == 0
               ? 0
               : graft_fault_set(reading->fault, 400, "invalid_value", name,
                                 "%s: expected \"float\" or \"base64\", got \"%.100s\"", name, text);
}

/* Accepts fields for a service's own book-keeping, which change no answer. */
static int pass(struct graft_reading *reading, const char *name, const graft_json *value) {
    (void)reading, (void)name, (void)value;
    return 0;
}

static int read_service_tier(struct graft_reading *reading, const char *name, const graft_json *value) {
    const char *text = graft_json_string(value, NULL);
    return text != NULL && (strcmp(text, "auto") == 0 || strcmp(text, "default") == 0)
               ? 0
               : graft_fault_set(reading->fault, 400, "invalid_value", name, "%s: there are no tiers here", name);
}

/* Accepts only the one value that is supported. */
static int only_false(struct graft_reading *reading, const char *name, const graft_json *value) {
    int flag = 0;
    if (read_flag(reading, name, value, &flag) != 0) {
        return -1;
    }
    return flag ? graft_fault_set(reading->fault, 400, "unsupported_value", name, "%s: is not done here", name) : 0;
}

static int read_best_of(struct graft_reading *reading, const char *name, const graft_json *value) {
    int64_t n = 0;
    if (read_int(reading, name, value, 1, GRAFT_REQUEST_MAX_CHOICES, &n) != 0) {
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

/* The fields in the order in which they are read, which is not that of the body. */
static const struct field {
    const char *name;
    int kinds;
    graft_field_reader *read;
} fields[] = {
    {"model", ANY, graft_read_model},
    {"prompt", COMPLETION | TOKENIZE, read_prompt},
    {"input", EMBEDDING, read_prompt},
    {"messages", CHAT | TOKENIZE, read_messages},
    {"tokens", DETOKENIZE, read_ids},
    {"stream", ANSWER, read_stream},
    {"stream_options", ANSWER, read_stream_options},
    {"n", ANSWER, read_n},
    {"best_of", COMPLETION, read_best_of},
    {"max_tokens", ANSWER, read_max_tokens},
    {"max_completion_tokens", CHAT, read_max_tokens},
    {"min_tokens", ANSWER, read_min_tokens},
    {"temperature", ANSWER, read_temperature},
    {"top_p", ANSWER, read_top_p},
    {"top_k", ANSWER, read_top_k},
    {"min_p", ANSWER, read_min_p},
    {"frequency_penalty", ANSWER, read_frequency},
    {"presence_penalty", ANSWER, read_presence},
    {"repetition_penalty", ANSWER, read_repetition},
    {"seed", ANSWER, read_seed},
    {"stop", ANSWER, graft_read_stop},
    {"stop_token_ids", ANSWER, graft_read_stop_ids},
    {"ignore_eos", ANSWER, read_ignore_eos},
    {"logit_bias", ANSWER, graft_read_bias},
    {"logprobs", ANSWER, read_logprobs},
    {"top_logprobs", CHAT, read_top_logprobs},
    {"echo", COMPLETION, read_echo},
    {"skip_special_tokens", ANSWER, read_skip_special},
    {"response_format", ANSWER, graft_read_format},
    {"tools", CHAT | TOKENIZE, graft_read_tools},
    {"tool_choice", CHAT, graft_read_tool_choice}, /* after tools and response_format */
    {"parallel_tool_calls", CHAT, read_parallel_calls},
    {"documents", CHAT | TOKENIZE, read_documents},
    {"chat_template_kwargs", CHAT | TOKENIZE, read_variables},
    {"add_generation_prompt", CHAT | TOKENIZE, read_opens},
    {"continue_final_message", CHAT | TOKENIZE, read_continues},
    {"add_special_tokens", TOKENIZE | COMPLETION, read_add_special},
    {"encoding_format", EMBEDDING, read_encoding_format},
    {"store", CHAT, only_false},
    {"service_tier", CHAT, read_service_tier},
    {"user", ANSWER | EMBEDDING, pass},
    {"metadata", CHAT, pass},
    {"safety_identifier", CHAT, pass},
    {"prompt_cache_key", CHAT, pass},
};

enum { N_FIELDS = sizeof fields / sizeof fields[0] };

static int check_names(struct graft_reading *reading, const graft_json *document) {
    const char *key = NULL;
    const graft_json *value = NULL;
    void *iterator = NULL;
    while (graft_json_next(document, &iterator, &key, &value)) {
        int is_known = 0;
        for (size_t i = 0; i < N_FIELDS && !is_known; i++) {
            is_known = strcmp(fields[i].name, key) == 0 && (fields[i].kinds & (int)reading->request->kind) != 0;
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
        const graft_json *value = graft_json_get(request->document, fields[i].name);
        const enum graft_json_type type = graft_json_type(value);
        if ((fields[i].kinds & (int)kind) != 0 && type != GRAFT_JSON_ABSENT && type != GRAFT_JSON_NULL) {
            failed = fields[i].read(&reading, fields[i].name, value);
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
