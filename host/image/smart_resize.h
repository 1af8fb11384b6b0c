/* SPDX-License-Identifier: Apache-2.0 */
/* The size that Qwen2-VL's image processor gives an image. */
#ifndef GRAFT_IMAGE_SMART_RESIZE_H
#define GRAFT_IMAGE_SMART_RESIZE_H

#include <stdint.h>

#include "graft/error.h"

struct smart_size {
    int64_t height;
    int64_t width;
};

/* [any] Both sides the nearest multiples of `factor`; where that makes more than `max_pixels` or fewer than
 * `min_pixels`, both scaled alike and cut or filled up to multiples. An image more than 200 times as long as wide is an
 * error. */
int graft_smart_resize(int64_t height, int64_t width, int64_t factor, int64_t min_pixels, int64_t max_pixels,
                       const char *source, struct smart_size *size, struct graft_error *error);

#endif
