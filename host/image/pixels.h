/* SPDX-License-Identifier: Apache-2.0 */
/* A decoded image: 8 bits a channel, red, green, blue. */
#ifndef GRAFT_IMAGE_PIXELS_H
#define GRAFT_IMAGE_PIXELS_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

/* The maximum number of pixels of an image: the limit above which the reference warns of "decompression bombs". */
enum { GRAFT_MAX_PIXELS = 89478485 };

struct graft_pixels {
    int64_t width;
    int64_t height;
    uint8_t *rgb; /* [height, width, 3] */
    int32_t has_key;
    uint8_t key[3]; /* with has_key: the colour of transparent pixels */
};

/* [any] Memory for an image of that size, which must be within the bounds; freed by graft_pixels_finish. `source` is
 * the file, for messages. */
int graft_pixels_init(struct graft_pixels *pixels, int64_t width, int64_t height, const char *source,
                      struct graft_error *error);
void graft_pixels_finish(struct graft_pixels *pixels);

#endif
