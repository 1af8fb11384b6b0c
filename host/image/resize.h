/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resizing as Pillow's Image.resize does it, or torchvision's resize with antialias, to the bit: a separable filter,
 * stretched when the image shrinks, one direction after the other, each with weights in fixed point and a result
 * rounded to 8 bits. transformers prepares images with the one and videos with the other.
 */
#ifndef GRAFT_IMAGE_RESIZE_H
#define GRAFT_IMAGE_RESIZE_H

#include "image/pixels.h"

/* Pillow's numbers for its filters (`resample` in preprocessor_config.json). */
enum { GRAFT_RESAMPLE_BILINEAR = 2, GRAFT_RESAMPLE_BICUBIC = 3 };

/* Whose fixed point: Pillow's weights have 22 fractional bits; torchvision's as many as leave them within 16 bits. */
enum { GRAFT_RESIZE_PILLOW, GRAFT_RESIZE_TORCHVISION };

struct graft_resize_method {
    int32_t resample; /* GRAFT_RESAMPLE_... */
    int32_t backend;  /* GRAFT_RESIZE_... */
};

/* [any] `to` becomes `from` resized, to be finished by the caller after success. */
int graft_pixels_resize(const struct graft_pixels *from, int64_t width, int64_t height,
                        struct graft_resize_method method, const char *source, struct graft_pixels *to,
                        struct graft_error *error);

#endif
