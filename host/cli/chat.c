/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/chat.h"

#include <string.h>

#include "base/alloc.h"
#include "cli/conversation.h"
#include "cli/open_tokenizer.h"
#include "cli/output.h"
#include "cli/standard_input.h"

static void note(const char *name) {
    graft_output_line(stderr, "note: the chat template does not read \"%s\"", name);
}

void graft_chat_note_unread(const struct graft_options *options, const struct graft_chat *chat) {
    if (options->quiet || chat->template == NULL) {
        return;
    }
    if (options->tools != NULL && !graft_chat_template_mentions(chat->template, "tools")) {
        note("tools");
    }
    for (size_t i = 0; i < options->template_variables.count; i++) {
        const char *given = options->template_variables.items[i];
        char *name = graft_strndup(given, strcspn(given, "="));
        if (name != NULL && !graft_chat_template_mentions(chat->template, name)) {
            note(name);
        }
        graft_free(name);
    }
}

int graft_chat_open(const struct graft_options *options, const struct graft_tokenizer *tokenizer,
                    struct graft_chat *chat, struct graft_error *error) {
    const struct graft_tokenizer_options wanted = {sizeof wanted, (int32_t)options->ignored_fields.count,
                                                   options->ignored_fields.items};
    int status = graft_chat_template_load(options->model, tokenizer, &wanted, &chat->template, error);
    if (status == GRAFT_OK) {
        status = graft_conversation_read_tools(options, &chat->tools, error);
    }
    return status == GRAFT_OK ? graft_conversation_read_variables(options, &chat->variables, error) : status;
}

void graft_chat_close(struct graft_chat *chat) {
    graft_chat_template_free(chat->template);
    graft_free(chat->tools);
    graft_free(chat->variables);
}

static struct graft_text_view view_of(const char *text) {
    return (struct graft_text_view){text, text != NULL ? strlen(text) : 0};
}

static int ends_with_assistant(const graft_json *messages) {
    const size_t n = graft_json_size(messages);
    const char *role = n > 0 ? graft_json_string(graft_json_get(graft_json_at(messages, n - 1), "role"), NULL) : NULL;
    return role != NULL && strcmp(role, "assistant") == 0;
}

int graft_chat_encode(const struct graft_options *options, const struct graft_chat *chat, const graft_json *messages,
                      struct graft_ids *ids, struct graft_error *error) {
    if (chat->template == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, options->model,
                              "has no chat template, which says how messages are written");
        graft_error_hint(error, "use --prompt with a text in the form that the model was trained on");
        return GRAFT_ERROR_MODEL;
    }
    char *text = graft_json_dump(messages, 0);
    if (text == NULL) {
        return graft_fail_memory(error, "messages");
    }
    const int is_open = ends_with_assistant(messages);
    const struct graft_chat_request request = {
        .struct_size = sizeof request,
        .add_generation_prompt = !is_open,
        .messages = view_of(text),
        .tools = view_of(chat->tools),
        .variables = view_of(chat->variables),
        .continue_final_message = is_open ? "content" : NULL,
    };
    int status = graft_chat_template_encode(chat->template, &request, ids, error);
    graft_free(text);
    return status;
}

int graft_chat_read(const struct graft_options *options, const struct graft_tokenizer *tokenizer, struct graft_ids *ids,
                    struct graft_error *error) {
    struct graft_chat chat = {0};
    graft_json *messages = NULL;
    int status = graft_chat_open(options, tokenizer, &chat, error);
    if (status == GRAFT_OK) {
        graft_chat_note_unread(options, &chat);
        status = graft_conversation_read(options, &messages, error);
    }
    if (status == GRAFT_OK) {
        status = graft_chat_encode(options, &chat, messages, ids, error);
    }
    graft_json_free(messages);
    graft_chat_close(&chat);
    return status;
}

int graft_chat_has_template(const struct graft_options *options) {
    struct graft_tokenizer *tokenizer = NULL;
    struct graft_chat chat = {0};
    int has = graft_tokenizer_load(options->model, &tokenizer, NULL) == GRAFT_OK &&
              graft_chat_open(options, tokenizer, &chat, NULL) == GRAFT_OK && chat.template != NULL;
    graft_chat_close(&chat);
    graft_tokenizer_free(tokenizer);
    return has;
}

/* Reads the only prompt, a text, as a conversation with one message of the user. */
static int read_question(const struct graft_options *options, graft_json **messages, struct graft_error *error) {
    char *text = NULL;
    size_t length = 0;
    int status = GRAFT_OK;
    *messages = graft_json_new_array();
    if (options->prompt_files.count > 0) {
        status = graft_prompt_file_read(options, options->prompt_files.items[0], &text, &length, error);
    } else {
        text = graft_strdup(options->prompts.items[0]);
        length = text != NULL ? strlen(text) : 0;
    }
    if (status == GRAFT_OK &&
        (text == NULL || *messages == NULL || graft_conversation_add(*messages, "user", text, length) != 0)) {
        status = graft_fail_memory(error, "--prompt");
    }
    graft_free(text);
    return status;
}

static int wrap(const struct graft_options *options, const struct graft_chat *chat, struct graft_prompts *prompts,
                struct graft_error *error) {
    graft_json *messages = NULL;
    struct graft_ids ids = {0};
    int status = graft_conversation_is_given(options) ? graft_conversation_read(options, &messages, error)
                                                      : read_question(options, &messages, error);
    if (status == GRAFT_OK && !graft_conversation_has_part(messages, "image") &&
        !graft_conversation_has_part(messages, "video")) {
        status = graft_conversation_add_images(messages, prompts->images, prompts->n_images, error);
    }
    if (status == GRAFT_OK) {
        status = graft_chat_encode(options, chat, messages, &ids, error);
    }
    if (status == GRAFT_OK) {
        graft_ids_free(&prompts->ids[0]);
        prompts->ids[0] = ids;
    } else {
        graft_ids_free(&ids);
    }
    graft_json_free(messages);
    return status;
}

int graft_chat_wrap(const struct graft_options *options, const struct graft_tokenizer *tokenizer,
                    struct graft_prompts *prompts, struct graft_error *error) {
    struct graft_chat chat = {0};
    if (prompts->count != 1 || options->input_ids.count > 0) {
        return GRAFT_OK;
    }
    int status = graft_chat_open(options, tokenizer, &chat, error);
    if (status == GRAFT_OK && chat.template != NULL) {
        status = wrap(options, &chat, prompts, error);
    }
    graft_chat_close(&chat);
    return status;
}
