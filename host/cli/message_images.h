/* SPDX-License-Identifier: Apache-2.0 */
/* Images and videos that messages name: {"type": "image", "path": FILE} or {"type": "image", "url": "data:..."}, and
 * {"type": "video", "path": DIRECTORY}. Errors are GRAFT_ERROR_USAGE, or those of the files. */
#ifndef GRAFT_CLI_MESSAGE_IMAGES_H
#define GRAFT_CLI_MESSAGE_IMAGES_H

#include "base/json.h"
#include "graft/host/graft.h"
#include "graft/host/image.h"

/* A growing list of images. Starts as {0}. */
struct graft_message_images {
    struct graft_image *items; /* [n] */
    size_t n;
    size_t capacity;
};

/* Whether a part of some message names an image or a video. */
int graft_message_images_are_named(const graft_json *messages);

/* Adds the images and videos of all messages, in their order. A part that names none is an error. */
int graft_message_images_read(const struct graft_model *model, const graft_json *messages,
                              struct graft_message_images *images, struct graft_error *error);

/* Adds the image or video of one part, of message number `i`. */
int graft_message_images_add(const struct graft_model *model, const graft_json *part, size_t i,
                             struct graft_message_images *images, struct graft_error *error);
void graft_message_images_free(struct graft_message_images *images);

#endif
