/* SPDX-License-Identifier: Apache-2.0 */
/* The decoders, one for each format. Used in this folder only. */
#ifndef GRAFT_IMAGE_FORMAT_H
#define GRAFT_IMAGE_FORMAT_H

#include "image/pixels.h"

/* Decode `length` bytes into `pixels`, which the caller must finish even after an error, and set the orientation that
 * the file declares (GRAFT_ORIENTATION_...). */
int graft_png_decode(const uint8_t *bytes, size_t length, const char *source, struct graft_pixels *pixels,
                     int32_t *orientation, struct graft_error *error);
int graft_jpeg_decode(const uint8_t *bytes, size_t length, const char *source, struct graft_pixels *pixels,
                      int32_t *orientation, struct graft_error *error);

#endif
