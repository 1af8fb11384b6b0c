/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resizing as Pillow's Image.resize does it, to the bit: a separable filter, stretched when the image shrinks, one
 * direction after the other, each with weights of 22 fractional bits and a result rounded to 8 bits.
 */
#ifndef GRAFT_IMAGE_RESIZE_H
#define GRAFT_IMAGE_RESIZE_H

#include "image/pixels.h"

/* Pillow's numbers for its filters (`resample` in preprocessor_config.json). */
enum { GRAFT_RESAMPLE_BILINEAR = 2, GRAFT_RESAMPLE_BICUBIC = 3 };

/* [any] `to` becomes `from` resized, to be finished by the caller after success. */
int graft_pixels_resize(const struct graft_pixels *from, int64_t width, int64_t height, int32_t resample,
                        const char *source, struct graft_pixels *to, struct graft_error *error);

#endif
