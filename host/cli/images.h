/* SPDX-License-Identifier: Apache-2.0 */
/* The images and videos of a command line, and their places in its prompts. */
#ifndef GRAFT_CLI_IMAGES_H
#define GRAFT_CLI_IMAGES_H

#include "cli/prompts.h"

/* Reads --image, --video and --pixel-values and gives them to the prompts, in order: each run of image tokens is one
 * image, each run of video tokens one video, and becomes as long as that has merged patches. A single text without such
 * tokens is put into the chat form of the model directory, behind the images and videos. Places that nothing is given
 * for are an error. `tokenizer` may be NULL when there are only ids. */
int graft_images_place(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_tokenizer *tokenizer, struct graft_prompts *prompts,
                       struct graft_error *error);

/* Gives prompts their images and videos where these are in `prompts` already. */
int graft_images_fill(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                      struct graft_prompts *prompts, struct graft_error *error);

#endif
