/* SPDX-License-Identifier: Apache-2.0 */
/* The model directory's chat template, as the command line asks for it. */
#ifndef GRAFT_CLI_CHAT_H
#define GRAFT_CLI_CHAT_H

#include "base/json.h"
#include "cli/prompts.h"
#include "graft/host/chat.h"

/* The directory's chat template, and the tools and variables that the command line gives it. Starts as {0}. */
struct graft_chat {
    struct graft_chat_template *template; /* NULL: the directory has none */
    char *tools;                          /* JSON; NULL: none; so are the variables */
    char *variables;
};

/* Loads the chat template, if the directory has one, and reads --tools and --template-variable. The tokenizer must
 * outlive `chat`. */
int graft_chat_open(const struct graft_options *options, const struct graft_tokenizer *tokenizer,
                    struct graft_chat *chat, struct graft_error *error);
void graft_chat_close(struct graft_chat *chat);

/* Notes on stderr that the template does not use --tools, or a variable of --template-variable. */
void graft_chat_note_unread(const struct graft_options *options, const struct graft_chat *chat);

/* Renders messages by the template and adds their token ids to `ids`. They end with the generation prompt or, if the
 * last message is the assistant's, with that message left open, to be continued. Without a template:
 * GRAFT_ERROR_MODEL. */
int graft_chat_encode(const struct graft_options *options, const struct graft_chat *chat, const graft_json *messages,
                      struct graft_ids *ids, struct graft_error *error);

/* The token ids of the messages on the command line. */
int graft_chat_read(const struct graft_options *options, const struct graft_tokenizer *tokenizer, struct graft_ids *ids,
                    struct graft_error *error);

/* For models that take images: renders the only prompt again as a conversation with a placeholder for each of
 * prompts->images. Does nothing without a template, for ids, and for several prompts. */
int graft_chat_wrap(const struct graft_options *options, const struct graft_tokenizer *tokenizer,
                    struct graft_prompts *prompts, struct graft_error *error);

/* Whether the model directory has a chat template that can be loaded. */
int graft_chat_has_template(const struct graft_options *options);

#endif
