/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the size to which image and video processors resize a picture. */
#ifndef GRAFT_IMAGE_SMART_RESIZE_H
#define GRAFT_IMAGE_SMART_RESIZE_H

#include <stdint.h>

#include "graft/error.h"

struct smart_size {
    int64_t height;
    int64_t width;
};

/* The factor of which sides must be multiples, and limits for the pixels of a frame or of all frames. */
struct smart_bounds {
    int64_t factor;
    int64_t min_pixels;
    int64_t max_pixels;
    int64_t frames; /* 0: limits of each frame; else of all frames: this many, rounded to a multiple of frame_factor */
    int64_t frame_factor;
};

/* [any] Computes the nearest multiples of `factor` for both sides. If that makes more than `max_pixels` or fewer than
 * `min_pixels`, both sides are scaled by the same ratio and rounded down or up to multiples. With `frames`, a picture
 * with a side shorter than `factor` is enlarged first. A picture more than 200 times as long as wide is an error. */
int graft_smart_resize(int64_t height, int64_t width, const struct smart_bounds *bounds, const char *source,
                       struct smart_size *size, struct graft_error *error);

#endif
