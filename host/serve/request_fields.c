/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fields of more complex types, and checks fields that depend on each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graft/host/model.h"
#include "serve/request_parts.h"

int graft_request_find_model(const struct graft_request_context *context, const char *asked, const char **adapter) {
    const size_t length = strlen(context->name);
    if (strncmp(asked, context->name, length) != 0) {
        return 0;
    }
    if (asked[length] == '\0') {
        return 1;
    }
    for (size_t i = 0; asked[length] == ':' && i < context->n_adapters; i++) {
        if (strcmp(asked + length + 1, context->adapters[i]) == 0) {
            *adapter = context->adapters[i];
            return 1;
        }
    }
    return 0;
}

int graft_read_model(struct graft_reading *reading, const char *name, const graft_json *value) {
    const char *asked = graft_json_string(value, NULL);
    if (asked == NULL) {
        return graft_request_expected(reading, name, "a string", value);
    }
    reading->request->model = asked;
    return graft_request_find_model(reading->context, asked, &reading->request->adapter)
               ? 0
               : graft_fault_set(reading->fault, 404, "model_not_found", name, "there is no model \"%.200s\" here",
                                 asked);
}

/* Reads a string or an array of strings; empty strings are ignored. */
int graft_read_stop(struct graft_reading *reading, const char *name, const graft_json *value) {
    struct graft_request *request = reading->request;
    const int is_array = graft_json_type(value) == GRAFT_JSON_ARRAY;
    const size_t n = is_array ? graft_json_size(value) : 1;
    if (n > GRAFT_REQUEST_MAX_STOPS) {
        return graft_fault_set(reading->fault, 400, "invalid_value", name, "%s: expected at most %d strings, got %zu",
                               name, GRAFT_REQUEST_MAX_STOPS, n);
    }
    for (size_t i = 0; i < n; i++) {
        const graft_json *item = is_array ? graft_json_at(value, i) : value;
        struct graft_text_view *stop = &request->stops[request->n_stops];
        stop->text = graft_json_string(item, &stop->length);
        if (stop->text == NULL) {
            return graft_request_expected(reading, name, "a string, or an array of strings", item);
        }
        request->n_stops += stop->length > 0;
    }
    return 0;
}

static int read_id(struct graft_reading *reading, const char *name, const graft_json *value, int32_t *id) {
    const int64_t number = graft_json_int(value);
    if (graft_json_type(value) != GRAFT_JSON_INT) {
        return graft_request_expected(reading, name, "ids of tokens", value);
    }
    *id = (int32_t)number;
    return number >= 0 && number < reading->context->vocab_size
               ? 0
               : graft_fault_set(reading->fault, 400, "invalid_value", name,
                                 "%s: token id %lld is outside the model's vocabulary of %lld", name, (long long)number,
                                 (long long)reading->context->vocab_size);
}

int graft_read_stop_ids(struct graft_reading *reading, const char *name, const graft_json *value) {
    struct graft_request *request = reading->request;
    const size_t n = graft_json_size(value);
    if (graft_json_type(value) != GRAFT_JSON_ARRAY) {
        return graft_request_expected(reading, name, "an array of token ids", value);
    }
    request->stop_ids = graft_alloc(n, sizeof *request->stop_ids);
    if (request->stop_ids == NULL) {
        return graft_fault_memory(reading->fault);
    }
    for (; request->n_stop_ids < n; request->n_stop_ids++) {
        if (read_id(reading, name, graft_json_at(value, request->n_stop_ids),
                    &request->stop_ids[request->n_stop_ids]) != 0) {
            return -1;
        }
    }
    return 0;
}

static int read_bias(struct graft_reading *reading, const char *name, const char *key, const graft_json *value,
                     size_t i) {
    struct graft_request *request = reading->request;
    const enum graft_json_type type = graft_json_type(value);
    char *end = NULL;
    const long long id = strtoll(key, &end, 10);
    const double bias = graft_json_real(value);
    if (key[0] < '0' || key[0] > '9' || *end != '\0' || id >= reading->context->vocab_size) {
        return graft_fault_set(reading->fault, 400, "invalid_value", name,
                               "%s: \"%.40s\" is not the id of a token, below %lld", name, key,
                               (long long)reading->context->vocab_size);
    }
    if ((type != GRAFT_JSON_INT && type != GRAFT_JSON_REAL) || !(bias >= -100.0 && bias <= 100.0)) {
        return graft_fault_set(reading->fault, 400, "invalid_value", name,
                               "%s.%.40s: expected a number from -100 to 100", name, key);
    }
    request->bias_ids[i] = (int32_t)id;
    request->biases[i] = (struct graft_sequence_bias){.ids = &request->bias_ids[i], .n = 1, .bias = bias};
    return 0;
}

/* {"ID": NUMBER, ...} */
int graft_read_bias(struct graft_reading *reading, const char *name, const graft_json *value) {
    struct graft_request *request = reading->request;
    const size_t n = graft_json_size(value);
    const char *key = NULL;
    const graft_json *item = NULL;
    void *iterator = NULL;
    if (graft_json_type(value) != GRAFT_JSON_OBJECT) {
        return graft_request_expected(reading, name, "an object", value);
    }
    request->biases = graft_alloc(n, sizeof *request->biases);
    request->bias_ids = graft_alloc(n, sizeof *request->bias_ids);
    if (request->biases == NULL || request->bias_ids == NULL) {
        return graft_fault_memory(reading->fault);
    }
    for (size_t i = 0; graft_json_next(value, &iterator, &key, &item); i++) {
        if (read_bias(reading, name, key, item, i) != 0) {
            return -1;
        }
    }
    request->generation.sequence_bias = request->biases;
    request->generation.n_sequence_bias = n;
    return 0;
}

int graft_read_tools(struct graft_reading *reading, const char *name, const graft_json *value) {
    const size_t n = graft_json_size(value);
    if (graft_json_type(value) != GRAFT_JSON_ARRAY) {
        return graft_request_expected(reading, name, "an array", value);
    }
    for (size_t i = 0; i < n; i++) {
        const graft_json *tool = graft_json_at(value, i);
        const char *type = graft_json_string(graft_json_get(tool, "type"), NULL);
        const char *function = graft_json_string(graft_json_get(graft_json_get(tool, "function"), "name"), NULL);
        if (type == NULL || strcmp(type, "function") != 0 || function == NULL) {
            return graft_fault_set(reading->fault, 400, "invalid_value", name,
                                   "tools[%zu]: expected {\"type\": \"function\", \"function\": {\"name\": ...}}", i);
        }
    }
    reading->request->tools = n > 0 ? value : NULL;
    reading->request->with_tools = n > 0;
    return 0;
}

static int require(struct graft_reading *reading, const char *name, const graft_json *value) {
    return value != NULL
               ? 0
               : graft_fault_set(reading->fault, 400, "missing_required_parameter", name, "%s: is missing", name);
}

static int check_prompt(struct graft_reading *reading) {
    const struct graft_request *request = reading->request;
    switch (request->kind) {
    case GRAFT_REQUEST_CHAT:
        return require(reading, "messages", request->messages);
    case GRAFT_REQUEST_COMPLETION:
        return require(reading, "prompt", request->prompt);
    case GRAFT_REQUEST_EMBEDDING:
        return require(reading, "input", request->prompt);
    case GRAFT_REQUEST_DETOKENIZE:
        return require(reading, "tokens", request->ids);
    case GRAFT_REQUEST_TOKENIZE:
    default:
        return (request->prompt != NULL) != (request->messages != NULL)
                   ? 0
                   : graft_fault_set(reading->fault, 400, "missing_required_parameter", "prompt",
                                     "expected one of prompt and messages");
    }
}

static int has(const struct graft_request *request, const char *name) {
    return graft_json_type(graft_json_get(request->document, name)) > GRAFT_JSON_NULL;
}

/* Whether tokens are sampled: as `temperature` says or, without it, if the request says how. */
static void complete_sampling(struct graft_request *request) {
    struct graft_generation *generation = &request->generation;
    const int is_hot = generation->temperature > 0.0;
    if (has(request, "temperature")) {
        generation->do_sample = is_hot;
        generation->temperature = is_hot ? generation->temperature : 1.0;
    } else if (has(request, "top_p") || has(request, "top_k") || has(request, "min_p")) {
        generation->do_sample = 1;
    }
    if (has(request, "top_p") && generation->top_p == 0.0) {
        generation->top_p = 1e-9; /* the most probable token alone */
    }
    if (has(request, "top_k") && generation->top_k < 0) {
        generation->top_k = 0; /* -1 means no limit, as in other servers */
    }
    request->has_seed = has(request, "seed");
}

int graft_request_complete(struct graft_reading *reading) {
    struct graft_request *request = reading->request;
    struct graft_generation *generation = &request->generation;
    if (check_prompt(reading) != 0) {
        return -1;
    }
    if (request->adapter == NULL && reading->context->n_adapters > 0) {
        request->adapter = GRAFT_BASE_MODEL;
    }
    if (request->n_top > 0 && !request->wants_logprobs) {
        return graft_fault_set(reading->fault, 400, "invalid_value", "top_logprobs",
                               "top_logprobs: logprobs has to be true");
    }
    if (request->echo && request->wants_logprobs) {
        return graft_fault_set(reading->fault, 400, "unsupported_value", "echo",
                               "echo: the tokens of a prompt have no logprobs here");
    }
    if (request->continue_final_message && graft_json_get(request->document, "add_generation_prompt") != NULL &&
        request->add_generation_prompt) {
        return graft_fault_set(reading->fault, 400, "invalid_value", "continue_final_message",
                               "continue_final_message: cannot be combined with add_generation_prompt");
    }
    if (request->max_tokens < 0) {
        request->max_tokens = request->kind == GRAFT_REQUEST_COMPLETION ? 16 : reading->context->max_new_tokens;
    }
    generation->max_new_tokens = request->max_tokens;
    generation->num_beams = 1;
    generation->num_return_sequences = 1;
    complete_sampling(request);
    return 0;
}
