/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chat templates: the programs by which model directories turn the messages of a conversation into the text that the
 * model was trained on, as transformers' apply_chat_template runs them (docs/chat.md).
 *
 *     struct graft_chat_template *chat;
 *     struct graft_ids ids = {0};
 *     struct graft_chat_request request = {.struct_size = sizeof request, .add_generation_prompt = 1};
 *     request.messages = (struct graft_text_view){messages, strlen(messages)}; // [{"role": "user", "content": "Hi"}]
 *     graft_chat_template_load("model", tokenizer, NULL, &chat, &error);
 *     graft_chat_template_encode(chat, &request, &ids, &error);
 *     ...
 *     graft_chat_template_free(chat);
 *
 * What users wrote stays text: a control token that stands in a message, a tool or a variable is encoded as its
 * characters. Only a message's role counts as the template's, where it is a word. A template is a program of strangers:
 * it has no way to files or clocks but the time that it is given, and its steps, memory and output are bounded.
 */
#ifndef GRAFT_HOST_CHAT_H
#define GRAFT_HOST_CHAT_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/host/tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The templates of one model directory. Immutable: several threads may use it. */
struct graft_chat_template;

/* [load] Reads chat_template.jinja and additional_chat_templates, or else chat_template.json, or else the field
 * chat_template of tokenizer_config.json. `*chat` is NULL where there is none, which is no error. A template that is
 * not one is GRAFT_ERROR_MODEL and names file, line and column. `options` are the tokenizer's (chat_template among the
 * ignored fields: that of tokenizer_config.json is not read) and may be NULL. `tokenizer`, the model's, outlives the
 * result, which the caller frees. */
int graft_chat_template_load(const char *directory, const struct graft_tokenizer *tokenizer,
                             const struct graft_tokenizer_options *options, struct graft_chat_template **chat,
                             struct graft_error *error);

/* [load] The same for the text of one template, which `source` names in errors. */
int graft_chat_template_create(const char *text, size_t length, const char *source,
                               const struct graft_tokenizer *tokenizer, struct graft_chat_template **chat,
                               struct graft_error *error);

/* [any] Accepts NULL. */
void graft_chat_template_free(struct graft_chat_template *chat);

/* [any] The names of the templates, from 0 on, "default" for a single one; NULL behind the last. */
const char *graft_chat_template_name(const struct graft_chat_template *chat, size_t i);

/* [any] Whether one of the templates has this word in its text: "enable_thinking", "tools". */
int graft_chat_template_mentions(const struct graft_chat_template *chat, const char *word);

/* What is rendered. Texts are JSON, borrowed until the call returns; one without bytes is not given. */
struct graft_chat_request {
    uint32_t struct_size;
    int32_t add_generation_prompt;    /* 1: the answer's turn is opened */
    struct graft_text_view messages;  /* [{"role": ..., "content": TEXT or [{"type": "text", "text": TEXT}, ...]}] */
    struct graft_text_view tools;     /* [JSON schemas]; for the template named tool_use where there is one */
    struct graft_text_view documents; /* [{"title": ..., "text": ...}] */
    struct graft_text_view variables; /* {"name": value}: any others, in the place of those above where they meet */
    const char *name;                 /* of the template; NULL: tool_use with tools, else default */
    /* The last message is left open, to be gone on with: its content, or the member of this name; NULL: it is closed.
     * Not with add_generation_prompt. */
    const char *continue_final_message;
    int64_t now; /* for strftime_now, in seconds since 1970; 0: the time of the call */
};

#define GRAFT_CHAT_REQUEST_SIZE_1_0 GRAFT_END_OF(struct graft_chat_request, now)

/* [any] Adds the text to `text`. Messages that are none, and what the template refuses, are GRAFT_ERROR_USAGE; a fault
 * of the template is GRAFT_ERROR_MODEL. */
int graft_chat_template_render(const struct graft_chat_template *chat, const struct graft_chat_request *request,
                               struct graft_text *text, struct graft_error *error);

/* [any] Adds the ids of the text to `ids`, special tokens only as the template writes them. */
int graft_chat_template_encode(const struct graft_chat_template *chat, const struct graft_chat_request *request,
                               struct graft_ids *ids, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
