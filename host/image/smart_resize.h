/* SPDX-License-Identifier: Apache-2.0 */
/* The size that image and video processors give a picture. */
#ifndef GRAFT_IMAGE_SMART_RESIZE_H
#define GRAFT_IMAGE_SMART_RESIZE_H

#include <stdint.h>

#include "graft/error.h"

struct smart_size {
    int64_t height;
    int64_t width;
};

/* What sides must be multiples of, and how many pixels there may be: of a frame, or of all frames. */
struct smart_bounds {
    int64_t factor;
    int64_t min_pixels;
    int64_t max_pixels;
    int64_t frames; /* 0: of one frame, however many there are; else this many, rounded to multiples of frame_factor */
    int64_t frame_factor;
};

/* [any] Both sides the nearest multiples of `factor`; where that makes more than `max_pixels` or fewer than
 * `min_pixels`, both scaled alike and cut or filled up to multiples. With `frames`, a side shorter than `factor` is
 * stretched before, the other alike. An image more than 200 times as long as wide is an error. */
int graft_smart_resize(int64_t height, int64_t width, const struct smart_bounds *bounds, const char *source,
                       struct smart_size *size, struct graft_error *error);

#endif
