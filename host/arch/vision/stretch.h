/* SPDX-License-Identifier: Apache-2.0 */
/* Learned positions that stand in a square, stretched to the grid of an image. */
#ifndef GRAFT_ARCH_VISION_STRETCH_H
#define GRAFT_ARCH_VISION_STRETCH_H

#include <stdint.h>

enum { GRAFT_MAX_TAPS = 4 };

struct graft_stretch {
    int64_t side;        /* of the square */
    int32_t is_bicubic;  /* 1: cubic convolution (Keys 1981, with a = -0.75) of four rows; 0: two, linearly */
    int32_t has_corners; /* 1: the outer rows are those of the image; 0: both cover the same area */
};

/* A row of the image is a weighted sum of rows of the square; rows beyond its edges are replaced by the edges. */
struct graft_taps {
    int32_t n;
    int64_t rows[GRAFT_MAX_TAPS];
    float weights[GRAFT_MAX_TAPS];
};

/* [any] The sum for row number `i` of the `size` rows of an image; likewise for columns. */
struct graft_taps graft_stretch_taps(const struct graft_stretch *stretch, int64_t i, int64_t size);

#endif
