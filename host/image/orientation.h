/* SPDX-License-Identifier: Apache-2.0 */
/* Which way up an image is, by the numbers of the EXIF field Orientation (Exif 2.3, 4.6.4, tag 274). */
#ifndef GRAFT_IMAGE_ORIENTATION_H
#define GRAFT_IMAGE_ORIENTATION_H

#include "image/pixels.h"

enum {
    GRAFT_ORIENTATION_NONE = 0, /* nothing is said */
    GRAFT_ORIENTATION_UPRIGHT = 1
};

/* [any] The Orientation of an EXIF block, with or without "Exif\0\0" in front; NONE where it has none that can be read.
 */
int32_t graft_exif_orientation(const uint8_t *bytes, size_t length);

/* [any] The same of an XMP packet: the first tiff:Orientation in it, as attribute or element. */
int32_t graft_xmp_orientation(const uint8_t *bytes, size_t length);

/* [any] Turns and mirrors the image so that it is upright; numbers without a meaning change nothing. */
int graft_pixels_turn(struct graft_pixels *pixels, int32_t orientation, const char *source, struct graft_error *error);

#endif
