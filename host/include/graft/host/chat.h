/* SPDX-License-Identifier: Apache-2.0 */
/* Chat templates: the programs with which model directories turn the messages of a conversation into the text that the
 * model was trained on, run as transformers' apply_chat_template runs them (docs/chat.md).
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
 * Text of users stays text: a control token that occurs in a message, a tool or a variable is encoded as its
 * characters. Only the role of a message counts as part of the template, if it is a single word. Templates are
 * untrusted programs: they cannot access files, and no clock but the time that they are given, and their steps, memory
 * and output are bounded. */
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

/* [load] Reads chat_template.jinja and additional_chat_templates, else chat_template.json, else the field chat_template
 * of tokenizer_config.json. If there is no template, `*chat` is NULL, which is not an error. A malformed template is
 * GRAFT_ERROR_MODEL; the message gives file, line and column. `options` are those of the tokenizer and may be NULL; if
 * their ignored fields include chat_template, that of tokenizer_config.json is not read. `tokenizer` is the model's and
 * must outlive the result, which the caller frees. */
int graft_chat_template_load(const char *directory, const struct graft_tokenizer *tokenizer,
                             const struct graft_tokenizer_options *options, struct graft_chat_template **chat,
                             struct graft_error *error);

/* [load] The same for the text of a single template, for which errors use the name `source`. */
int graft_chat_template_create(const char *text, size_t length, const char *source,
                               const struct graft_tokenizer *tokenizer, struct graft_chat_template **chat,
                               struct graft_error *error);

/* [any] Accepts NULL. */
void graft_chat_template_free(struct graft_chat_template *chat);

/* [any] The name of template `i`; "default" if there is only one. NULL after the last. */
const char *graft_chat_template_name(const struct graft_chat_template *chat, size_t i);

/* [any] Whether the text of any template contains this word, such as "enable_thinking" or "tools". */
int graft_chat_template_mentions(const struct graft_chat_template *chat, const char *word);

/* What to render. Texts are JSON and borrowed until the call returns; an empty text means that the part is absent. */
struct graft_chat_request {
    uint32_t struct_size;
    int32_t add_generation_prompt;    /* 1: adds the beginning of the answer's turn */
    struct graft_text_view messages;  /* [{"role": ..., "content": TEXT or [{"type": "text", "text": TEXT}, ...]}] */
    struct graft_text_view tools;     /* [JSON schemas]; the template named tool_use is used, if there is one */
    struct graft_text_view documents; /* [{"title": ..., "text": ...}] */
    struct graft_text_view variables; /* {"name": value}: further variables, which override those above */
    const char *name;                 /* name of the template; NULL: tool_use if there are tools, else default */
    /* The last message is left open to be continued: its content, or its member of this name. NULL: it is closed. Not
     * with add_generation_prompt. */
    const char *continue_final_message;
    int64_t now; /* time for strftime_now, in seconds since 1970; 0: the current time */
};

#define GRAFT_CHAT_REQUEST_SIZE_1_0 GRAFT_END_OF(struct graft_chat_request, now)

/* [any] Appends the rendered text to `text`. Malformed messages, and what the template itself refuses, are
 * GRAFT_ERROR_USAGE; a fault of the template is GRAFT_ERROR_MODEL. */
int graft_chat_template_render(const struct graft_chat_template *chat, const struct graft_chat_request *request,
                               struct graft_text *text, struct graft_error *error);

/* [any] Appends the ids of the rendered text to `ids`. Special tokens are only those that the template writes. */
int graft_chat_template_encode(const struct graft_chat_template *chat, const struct graft_chat_request *request,
                               struct graft_ids *ids, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif
