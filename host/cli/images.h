/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the images and videos of the command line and assigns them to placeholders in the prompts. */
#ifndef GRAFT_CLI_IMAGES_H
#define GRAFT_CLI_IMAGES_H

#include "cli/prompts.h"

/* Reads --image, --video and --pixel-values and assigns them to the prompts' placeholders in order: each run of image
 * tokens stands for one image, each run of video tokens for one video, and is expanded to as many tokens as the image
 * or video has merged patches. A single text without placeholders is rendered by the directory's chat template, with
 * the images and videos before the text. A placeholder without an image or video is an error. `tokenizer` may be NULL
 * if all prompts are ids. */
int graft_images_place(const struct graft_options *options, const struct graft_model *model,
                       const struct graft_tokenizer *tokenizer, struct graft_prompts *prompts,
                       struct graft_error *error);

/* Does the same for images and videos that prompts->images has already. */
int graft_images_fill(const struct graft_model *model, const struct graft_tokenizer *tokenizer,
                      struct graft_prompts *prompts, struct graft_error *error);

#endif
