/* SPDX-License-Identifier: Apache-2.0 */
/* Resizes like Pillow's Image.resize, or like torchvision's resize with antialias, to the bit: a separable filter,
 * stretched when the image shrinks, in one direction after the other, each with weights in fixed point and a result
 * rounded to 8 bits. transformers uses the former for images and the latter for videos. */
#ifndef GRAFT_IMAGE_RESIZE_H
#define GRAFT_IMAGE_RESIZE_H

#include "image/pixels.h"

/* Pillow's numbers for its filters (`resample` in preprocessor_config.json). */
enum { GRAFT_RESAMPLE_BILINEAR = 2, GRAFT_RESAMPLE_BICUBIC = 3 };

/* The fixed-point format of weights: Pillow's have 22 fractional bits; torchvision's have as many as fit into 16
 * bits. */
enum { GRAFT_RESIZE_PILLOW, GRAFT_RESIZE_TORCHVISION };

struct graft_resize_method {
    int32_t resample; /* GRAFT_RESAMPLE_... */
    int32_t backend;  /* GRAFT_RESIZE_... */
};

/* [any] Resizes `from` to `to`, which the caller finishes after success. */
int graft_pixels_resize(const struct graft_pixels *from, int64_t width, int64_t height,
                        struct graft_resize_method method, const char *source, struct graft_pixels *to,
                        struct graft_error *error);

#endif
