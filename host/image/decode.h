/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes PNG and JPEG like Pillow's `ImageOps.exif_transpose` and `convert("RGB")`: alpha is dropped (the colour that
 * a PNG declares transparent is remembered), grey and palette images become RGB, CMYK is inverted and multiplied, and
 * the orientation in EXIF or XMP is applied. Of 16-bit channels the upper 8 bits are kept. */
#ifndef GRAFT_IMAGE_DECODE_H
#define GRAFT_IMAGE_DECODE_H

#include "image/pixels.h"

/* [any] Reads an image file. Errors are GRAFT_ERROR_IO and name it. The caller finishes `pixels` after success. */
int graft_pixels_read(const char *path, struct graft_pixels *pixels, struct graft_error *error);

/* [any] The same from memory; `source` names it in messages. */
int graft_pixels_decode(const uint8_t *bytes, size_t length, const char *source, struct graft_pixels *pixels,
                        struct graft_error *error);

#endif
