/* SPDX-License-Identifier: Apache-2.0 */
/* The chat templates of a directory, and rendering a request with them. */
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "chat/chat.h"
#include "tokenizer/pipeline.h"

/* Special tokens with names, and variables of a request. */
enum { MAX_VARIABLES = 256 };

int graft_chat_add(struct graft_chat_template *chat, const char *name, const char *source, const char *text,
                   size_t length, struct graft_error *error) {
    if (graft_grow(&chat->items, &chat->capacity, chat->n, sizeof *chat->items) != 0) {
        return graft_fail_memory(error, source);
    }
    struct graft_named_template made = {graft_strdup(name), graft_strdup(source), NULL};
    int status = made.name != NULL && made.source != NULL ? graft_jinja_parse(text, length, source, &made.parsed, error)
                                                          : graft_fail_memory(error, source);
    chat->items[chat->n++] = made;
    return status;
}

static int is_blank(const char *text, size_t length) {
    return strspn(text, " \t\r\n") >= length;
}

/* Finds tokens that are not special but that a template writes: "<think>" from the template is a control token. White
 * space never is, because templates use it for layout. */
static int find_controls(struct graft_chat_template *chat, struct graft_error *error) {
    const struct graft_added *added = &chat->tokenizer->added;
    for (size_t i = 0; i < added->vocab.count; i++) {
        const struct graft_token *token = &added->vocab.tokens[i];
        const char *text = graft_vocab_text(&added->vocab, token);
        int is_written = 0;
        for (size_t k = 0; k < chat->n && !added->rules[i].special && !is_blank(text, token->length); k++) {
            is_written |= graft_jinja_mentions(chat->items[k].parsed, text, token->length);
        }
        if (!is_written) {
            continue;
        }
        if (graft_grow(&chat->controls, &chat->controls_capacity, chat->n_controls, sizeof *chat->controls) != 0) {
            return graft_fail_memory(error, chat->items[0].source);
        }
        chat->controls[chat->n_controls++] = token->id;
    }
    return GRAFT_OK;
}

/* Completes a new struct with its templates, or frees it after an error. */
static int finish_load(struct graft_chat_template *made, int status, struct graft_chat_template **chat,
                       struct graft_error *error) {
    if (status == GRAFT_OK && made->n > 0) {
        status = find_controls(made, error);
    }
    if (status != GRAFT_OK || made->n == 0) {
        graft_chat_template_free(made);
        return status;
    }
    *chat = made;
    return GRAFT_OK;
}

static struct graft_chat_template *new_chat(const struct graft_tokenizer *tokenizer, const char *source,
                                            struct graft_error *error) {
    struct graft_chat_template *made = graft_alloc(1, sizeof *made);
    if (made == NULL) {
        (void)graft_fail_memory(error, source);
        return NULL;
    }
    made->tokenizer = tokenizer;
    return made;
}

int graft_chat_template_load(const char *directory, const struct graft_tokenizer *tokenizer,
                             const struct graft_tokenizer_options *options, struct graft_chat_template **chat,
                             struct graft_error *error) {
    *chat = NULL;
    struct graft_chat_template *made = new_chat(tokenizer, directory, error);
    return made != NULL ? finish_load(made, graft_chat_find(made, directory, options, error), chat, error)
                        : GRAFT_ERROR_INTERNAL;
}

int graft_chat_template_create(const char *text, size_t length, const char *source,
                               const struct graft_tokenizer *tokenizer, struct graft_chat_template **chat,
                               struct graft_error *error) {
    *chat = NULL;
    struct graft_chat_template *made = new_chat(tokenizer, source, error);
    return made != NULL ? finish_load(made, graft_chat_add(made, "default", source, text, length, error), chat, error)
                        : GRAFT_ERROR_INTERNAL;
}

void graft_chat_template_free(struct graft_chat_template *chat) {
    if (chat == NULL) {
        return;
    }
    for (size_t i = 0; i < chat->n; i++) {
        graft_free(chat->items[i].name);
        graft_free(chat->items[i].source);
        graft_jinja_free(chat->items[i].parsed);
    }
    graft_free(chat->items);
    graft_free(chat->controls);
    graft_free(chat);
}

const char *graft_chat_template_name(const struct graft_chat_template *chat, size_t i) {
    return i < chat->n ? chat->items[i].name : NULL;
}

int graft_chat_template_mentions(const struct graft_chat_template *chat, const char *word) {
    for (size_t i = 0; i < chat->n; i++) {
        if (graft_jinja_reads(chat->items[i].parsed, word)) {
            return 1;
        }
    }
    return 0;
}

static const struct graft_named_template *find(const struct graft_chat_template *chat, const char *name) {
    for (size_t i = 0; i < chat->n; i++) {
        if (strcmp(chat->items[i].name, name) == 0) {
            return &chat->items[i];
        }
    }
    return NULL;
}

/* Chooses the template that a request asks for. */
static int choose(const struct graft_chat_template *chat, const struct graft_chat_request *request,
                  const struct graft_named_template **used, struct graft_error *error) {
    *used = request->name == NULL && request->tools.length > 0 ? find(chat, "tool_use") : NULL;
    if (*used == NULL) {
        *used = find(chat, request->name != NULL ? request->name : "default");
    }
    if (*used != NULL) {
        return GRAFT_OK;
    }
    struct graft_text names = {0};
    for (size_t i = 0; i < chat->n; i++) {
        graft_text_printf(&names, "%s%s", i > 0 ? ", " : "", chat->items[i].name);
    }
    int status =
        graft_error_set(error, GRAFT_ERROR_USAGE, chat->items[0].source, "has no chat template \"%s\", but these: %s",
                        request->name != NULL ? request->name : "default", names.failed ? "" : names.bytes);
    graft_text_free(&names);
    return status;
}

struct variables {
    struct graft_jinja_variable items[MAX_VARIABLES];
    size_t n;
    graft_json *own; /* owns the values that were made here */
};

static void add(struct variables *variables, const char *name, const graft_json *value, int is_input) {
    if (variables->n < MAX_VARIABLES) {
        variables->items[variables->n++] = (struct graft_jinja_variable){name, value, is_input, "role"};
    }
}

/* Adds bos_token and so on, as the tokenizer's files name them. */
static int add_special_tokens(const struct graft_chat_template *chat, struct variables *variables,
                              struct graft_error *error) {
    const struct graft_vocab *named = &chat->tokenizer->named;
    variables->own = graft_json_new_array();
    for (size_t i = 0; i < named->count; i++) {
        size_t length = 0;
        const char *text = graft_tokenizer_token(chat->tokenizer, named->tokens[i].id, &length);
        if (text == NULL) {
            continue;
        }
        graft_json *value = graft_json_new_string_n(text, length);
        if (graft_json_append_take(variables->own, value) != 0) {
            return graft_fail_memory(error, chat->items[0].source);
        }
        add(variables, graft_vocab_text(named, &named->tokens[i]), value, 0);
    }
    return GRAFT_OK;
}

static int add_inputs(const struct graft_chat_request *request, const struct graft_chat_inputs *inputs,
                      struct variables *variables, struct graft_error *error) {
    graft_json *opens = graft_json_new_bool(request->add_generation_prompt);
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *value = NULL;
    if (graft_json_append_take(variables->own, opens) != 0) {
        return graft_fail_memory(error, "messages");
    }
    add(variables, "messages", inputs->messages, 1);
    add(variables, "tools", inputs->tools, 1);
    add(variables, "documents", inputs->documents, 1);
    add(variables, "add_generation_prompt", opens, 0);
    if (variables->n + graft_json_size(inputs->variables) > MAX_VARIABLES) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "variables", "%zu are given, expected at most %zu",
                               graft_json_size(inputs->variables), MAX_VARIABLES - variables->n);
    }
    while (graft_json_next(inputs->variables, &iterator, &key, &value)) {
        add(variables, key, value, 1);
    }
    return GRAFT_OK;
}

static int render(const struct graft_chat_template *chat, const struct graft_chat_request *request,
                  struct graft_jinja_output *output, struct graft_error *error) {
    struct graft_chat_inputs inputs = {0};
    struct variables variables = {.n = 0};
    const struct graft_named_template *used = NULL;
    *output = (struct graft_jinja_output){0};
    int status = graft_check_given(request, GRAFT_CHAT_REQUEST_SIZE_1_0, "graft_chat_request", error);
    if (status == GRAFT_OK) {
        status = choose(chat, request, &used, error);
    }
    if (status == GRAFT_OK) {
        status = graft_chat_inputs_read(request, &inputs, error);
    }
    if (status == GRAFT_OK && request->continue_final_message != NULL) {
        status = graft_chat_open_final(used, request->continue_final_message, &inputs, error);
    }
    if (status == GRAFT_OK) {
        status = add_special_tokens(chat, &variables, error);
    }
    if (status == GRAFT_OK) {
        status = add_inputs(request, &inputs, &variables, error);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_render(used->parsed, variables.items, variables.n,
                                    request->now != 0 ? (time_t)request->now : time(NULL), &graft_jinja_usual_limits,
                                    output, error);
    }
    if (status == GRAFT_OK && inputs.is_open) {
        status = graft_chat_cut_final(&inputs, output, error);
    }
    graft_chat_inputs_finish(&inputs);
    graft_json_free(variables.own);
    return status;
}

int graft_chat_template_render(const struct graft_chat_template *chat, const struct graft_chat_request *request,
                               struct graft_text *text, struct graft_error *error) {
    struct graft_jinja_output output = {0};
    int status = render(chat, request, &output, error);
    if (status == GRAFT_OK) {
        graft_text_add(text, output.text.bytes, output.text.length);
        status = text->failed ? graft_fail_memory(error, "messages") : GRAFT_OK;
    }
    graft_jinja_output_free(&output);
    return status;
}

int graft_chat_template_encode(const struct graft_chat_template *chat, const struct graft_chat_request *request,
                               struct graft_ids *ids, struct graft_error *error) {
    struct graft_jinja_output output = {0};
    int status = render(chat, request, &output, error);
    if (status == GRAFT_OK) {
        const struct graft_added_marks marks = {(const unsigned char *)output.marks.bytes, chat->controls,
                                                chat->n_controls};
        status =
            graft_tokenizer_encode_marked(chat->tokenizer, output.text.bytes, output.text.length, &marks, ids, error);
    }
    graft_jinja_output_free(&output);
    return status;
}
