/* SPDX-License-Identifier: Apache-2.0 */
/* The images of a command line, and their places in its prompts. */
#ifndef GRAFT_CLI_IMAGES_H
#define GRAFT_CLI_IMAGES_H

#include "cli/prompts.h"

/* Reads --image and --pixel-values and gives them to the prompts, in order: each run of image tokens is one image and
 * becomes as long as the image has merged patches. A single text without image tokens is put into the chat form of the
 * model directory, behind the images. Without those options nothing is done. `tokenizer` may be NULL when there are
 * only ids. */
int graft_images_place(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_tokenizer *tokenizer, struct graft_prompts *prompts,
                       struct graft_error *error);

#endif
