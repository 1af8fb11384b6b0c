/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PNG and JPEG into pixels, as Pillow's `ImageOps.exif_transpose` and `convert("RGB")` make them: alpha is dropped (a
 * colour that stands for transparent pixels is remembered), grey and palettes become colours, CMYK is inverted and
 * multiplied out, and what EXIF or XMP says of the orientation is done. Of 16 bits the upper 8 are kept.
 */
#ifndef GRAFT_IMAGE_DECODE_H
#define GRAFT_IMAGE_DECODE_H

#include "image/pixels.h"

/* [any] Reads an image file. Errors are GRAFT_ERROR_IO and name it. The caller finishes `pixels` after success. */
int graft_pixels_read(const char *path, struct graft_pixels *pixels, struct graft_error *error);

/* [any] The same from memory; `source` names it in messages. */
int graft_pixels_decode(const uint8_t *bytes, size_t length, const char *source, struct graft_pixels *pixels,
                        struct graft_error *error);

#endif
