/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the prompts of a request into token ids: texts by the tokenizer, messages by the chat template, ids after a
 * check. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "serve/request.h"

/* The prompts encoded so far. */
struct gathering {
    const struct graft_request *request;
    const struct graft_tokenizer *tokenizer;
    int64_t vocab_size;
    const char *name;          /* name of the field */
    struct graft_ids *prompts; /* [capacity], of which the first n are complete */
    size_t capacity;
    size_t n;
    struct graft_fault *fault;
};

static int add_text(struct gathering *to, const char *text, size_t length) {
    struct graft_error error = graft_error_none();
    struct graft_ids *ids = &to->prompts[to->n];
    if (to->tokenizer == NULL) {
        return graft_fault_set(to->fault, 400, "unsupported_value", to->name,
                               "%s: the model has no tokenizer: expected token ids", to->name);
    }
    if (graft_tokenizer_encode(to->tokenizer, text, length, to->request->add_special, ids, &error) != GRAFT_OK) {
        return graft_fault_from_error(to->fault, &error, to->name);
    }
    to->n++;
    return 0;
}

static int add_ids(struct gathering *to, const graft_json *list) {
    struct graft_ids *ids = &to->prompts[to->n];
    for (size_t i = 0; i < graft_json_size(list); i++) {
        const graft_json *item = graft_json_at(list, i);
        const int64_t id = graft_json_int(item);
        if (graft_json_type(item) != GRAFT_JSON_INT || id < 0 || id >= to->vocab_size) {
            return graft_fault_set(to->fault, 400, "invalid_value", to->name,
                                   "%s: expected ids of tokens below %lld, got %s", to->name, (long long)to->vocab_size,
                                   graft_json_type_name(item));
        }
        graft_ids_add(ids, (int32_t)id);
    }
    to->n++;
    return ids->failed ? graft_fault_memory(to->fault) : 0;
}

/* Adds one prompt: a text, or ids. */
static int add_item(struct gathering *to, const graft_json *item) {
    size_t length = 0;
    const char *text = graft_json_string(item, &length);
    if (text != NULL) {
        return add_text(to, text, length);
    }
    return graft_json_type(item) == GRAFT_JSON_ARRAY
               ? add_ids(to, item)
               : graft_fault_set(to->fault, 400, "invalid_type", to->name,
                                 "%s: expected a string, an array of strings, or ids of tokens, got %s", to->name,
                                 graft_json_type_name(item));
}

static int gather(struct gathering *to, const graft_json *prompt) {
    const int is_list =
        graft_json_type(prompt) == GRAFT_JSON_ARRAY && graft_json_type(graft_json_at(prompt, 0)) != GRAFT_JSON_INT;
    const size_t n = is_list ? graft_json_size(prompt) : 1;
    int failed = 0;
    if (n == 0 || n > GRAFT_REQUEST_MAX_PROMPTS) {
        return graft_fault_set(to->fault, 400, "invalid_value", to->name, "%s: expected 1 to %d of them, got %zu",
                               to->name, GRAFT_REQUEST_MAX_PROMPTS, n);
    }
    to->prompts = graft_alloc(n, sizeof *to->prompts);
    if (to->prompts == NULL) {
        return graft_fault_memory(to->fault);
    }
    to->capacity = n;
    for (size_t i = 0; i < n && !failed; i++) {
        failed = add_item(to, is_list ? graft_json_at(prompt, i) : prompt) != 0;
        if (!failed && to->prompts[i].n == 0) {
            failed = graft_fault_set(to->fault, 400, "invalid_value", to->name, "%s: has no tokens", to->name) != 0;
        }
    }
    return failed ? -1 : 0;
}

/* --- Messages --- */

/* Parses the arguments of earlier tool calls, which clients send as JSON text and templates expect as values. */
static int read_arguments(graft_json *call, size_t i, struct graft_fault *fault) {
    graft_json *function = (graft_json *)graft_json_get(call, "function");
    size_t length = 0;
    const char *text = graft_json_string(graft_json_get(function, "arguments"), &length);
    graft_json *arguments = NULL;
    char name[64];
    if (text == NULL) {
        return 0;
    }
    (void)snprintf(name, sizeof name, "messages[%zu].tool_calls", i);
    if (graft_json_parse(text, length, name, &arguments, NULL) != GRAFT_OK) {
        return graft_fault_set(fault, 400, "invalid_value", name, "%s: arguments: expected a JSON object as text",
                               name);
    }
    return graft_json_set_take(function, "arguments", arguments) != 0 ? graft_fault_memory(fault) : 0;
}

static int prepare_messages(const graft_json *messages, struct graft_fault *fault) {
    const size_t n = graft_json_size(messages);
    if (graft_json_type(messages) != GRAFT_JSON_ARRAY || n == 0) {
        return graft_fault_set(fault, 400, "invalid_type", "messages", "messages: expected an array of messages");
    }
    for (size_t i = 0; i < n; i++) {
        const graft_json *message = graft_json_at(messages, i);
        const graft_json *calls = graft_json_get(message, "tool_calls");
        char name[64];
        (void)snprintf(name, sizeof name, "messages[%zu].role", i);
        if (graft_json_string(graft_json_get(message, "role"), NULL) == NULL) {
            return graft_fault_set(fault, 400, "invalid_type", name, "%s: expected a string", name);
        }
        int failed = 0;
        for (size_t j = 0; j < graft_json_size(calls) && !failed; j++) {
            failed = read_arguments((graft_json *)graft_json_at(calls, j), i, fault);
        }
        if (failed) {
            return -1;
        }
    }
    return 0;
}

/* Writes a value as text, or nothing if it is absent. The caller frees `*kept`. */
static int write(const graft_json *value, char **kept, struct graft_text_view *view) {
    if (value == NULL) {
        return 0;
    }
    *kept = graft_json_dump(value, 0);
    *view = (struct graft_text_view){*kept, *kept != NULL ? strlen(*kept) : 0};
    return *kept != NULL ? 0 : -1;
}

static int encode_messages(struct gathering *to, const struct graft_chat_template *chat) {
    const struct graft_request *request = to->request;
    struct graft_chat_request asked = {.struct_size = sizeof asked,
                                       .add_generation_prompt =
                                           request->add_generation_prompt && !request->continue_final_message,
                                       .continue_final_message = request->continue_final_message ? "content" : NULL};
    struct graft_error error = graft_error_none();
    char *texts[4] = {NULL};
    if (chat == NULL) {
        return graft_fault_set(to->fault, 400, "unsupported_value", "messages",
                               "messages: the model has no chat template; /v1/completions takes texts");
    }
    if (prepare_messages(request->messages, to->fault) != 0) {
        return -1;
    }
    to->prompts = graft_alloc(1, sizeof *to->prompts);
    int failed = to->prompts == NULL || write(request->messages, &texts[0], &asked.messages) != 0 ||
                 write(request->tools, &texts[1], &asked.tools) != 0 ||
                 write(request->documents, &texts[2], &asked.documents) != 0 ||
                 write(request->variables, &texts[3], &asked.variables) != 0;
    if (failed) {
        (void)graft_fault_memory(to->fault);
    } else if (graft_chat_template_encode(chat, &asked, &to->prompts[0], &error) != GRAFT_OK) {
        failed = graft_fault_from_error(to->fault, &error, "messages") != 0;
    }
    to->n = to->capacity = to->prompts != NULL;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        graft_free(texts[i]);
    }
    return failed ? -1 : 0;
}

int graft_request_encode(const struct graft_request *request, const struct graft_tokenizer *tokenizer,
                         const struct graft_chat_template *chat, int64_t vocab_size, struct graft_ids **prompts,
                         size_t *n, struct graft_fault *fault) {
    struct gathering to = {.request = request,
                           .tokenizer = tokenizer,
                           .vocab_size = vocab_size,
                           .name = request->kind == GRAFT_REQUEST_EMBEDDING ? "input" : "prompt",
                           .fault = fault};
    int failed = request->messages != NULL ? encode_messages(&to, chat) : gather(&to, request->prompt);
    *prompts = to.prompts;
    *n = failed ? to.capacity : to.n;
    return failed ? -1 : 0;
}

void graft_request_prompts_free(struct graft_ids *prompts, size_t n) {
    for (size_t i = 0; i < n && prompts != NULL; i++) {
        graft_ids_free(&prompts[i]);
    }
    graft_free(prompts);
}
