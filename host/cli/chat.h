/* SPDX-License-Identifier: Apache-2.0 */
/* A question about images and videos in the form that Qwen2-VL's chat templates give it. */
#ifndef GRAFT_CLI_CHAT_H
#define GRAFT_CLI_CHAT_H

#include "cli/prompts.h"

/* Replaces the ids of the only prompt, which must be a text: behind a place for each of prompts->images, in a user's
 * turn, with the assistant's turn opened, and after the system's turn that the directory's template puts first. A
 * directory whose template is of another form is an error (GRAFT_ERROR_USAGE). */
int graft_chat_wrap(const struct graft_options *options, const struct graft_tokenizer *tokenizer,
                    struct graft_prompts *prompts, struct graft_error *error);

/* Whether the model directory has a chat template. What cannot be read counts as none. */
int graft_chat_has_template(const struct graft_options *options);

#endif
