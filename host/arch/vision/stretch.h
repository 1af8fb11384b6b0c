/* SPDX-License-Identifier: Apache-2.0 */
/* Learned positions in a square, interpolated to the grid of an image. */
#ifndef GRAFT_ARCH_VISION_STRETCH_H
#define GRAFT_ARCH_VISION_STRETCH_H

#include <stdint.h>

enum { GRAFT_MAX_TAPS = 4 };

struct graft_stretch {
    int64_t side;        /* rows and columns of the square */
    int32_t is_bicubic;  /* 1: bicubic (Keys 1981, a = -0.75), from four rows; 0: linear, from two */
    int32_t has_corners; /* 1: align corners: outer rows coincide; 0: areas coincide */
};

/* The rows of the square, with weights, that make up a row of the image. Rows beyond an edge are replaced by the row at
 * the edge. */
struct graft_taps {
    int32_t n;
    int64_t rows[GRAFT_MAX_TAPS];
    float weights[GRAFT_MAX_TAPS];
};

/* [any] Row `i` of the `size` rows of an image; columns work in the same way. */
struct graft_taps graft_stretch_taps(const struct graft_stretch *stretch, int64_t i, int64_t size);

#endif
