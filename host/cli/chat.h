/* SPDX-License-Identifier: Apache-2.0 */
/* The model directory's chat template, as the command line asks for it. */
#ifndef GRAFT_CLI_CHAT_H
#define GRAFT_CLI_CHAT_H

#include "base/json.h"
#include "cli/prompts.h"
#include "graft/host/chat.h"

/* What a command line says of templates, read once. Starts as {0}. */
struct graft_chat {
    struct graft_chat_template *template; /* NULL: the directory has none */
    char *tools;                          /* JSON, this and the following; NULL: none */
    char *variables;
};

/* Opens the directory's template, which may not be there. The tokenizer outlives it. */
int graft_chat_open(const struct graft_options *options, const struct graft_tokenizer *tokenizer,
                    struct graft_chat *chat, struct graft_error *error);
void graft_chat_close(struct graft_chat *chat);

/* On stderr: which tools and variables of the command line the template does not read. */
void graft_chat_note_unread(const struct graft_options *options, const struct graft_chat *chat);

/* Adds the ids of messages to `ids`, with the answer's turn opened, or, where the last message is the assistant's, with
 * that left open. A directory without a template is GRAFT_ERROR_MODEL. */
int graft_chat_encode(const struct graft_options *options, const struct graft_chat *chat, const graft_json *messages,
                      struct graft_ids *ids, struct graft_error *error);

/* The ids of the command line's messages. */
int graft_chat_read(const struct graft_options *options, const struct graft_tokenizer *tokenizer, struct graft_ids *ids,
                    struct graft_error *error);

/* Replaces the ids of the only prompt, which must be a text or messages, by those of a conversation that has a place
 * for each of prompts->images. Without a template the prompt stays. */
int graft_chat_wrap(const struct graft_options *options, const struct graft_tokenizer *tokenizer,
                    struct graft_prompts *prompts, struct graft_error *error);

/* Whether the model directory has a chat template. What cannot be read counts as none. */
int graft_chat_has_template(const struct graft_options *options);

#endif
