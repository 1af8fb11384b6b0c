/* SPDX-License-Identifier: Apache-2.0 */
/* Orientations of images, numbered like the EXIF field Orientation (Exif 2.3, 4.6.4, tag 274). */
#ifndef GRAFT_IMAGE_ORIENTATION_H
#define GRAFT_IMAGE_ORIENTATION_H

#include "image/pixels.h"

enum {
    GRAFT_ORIENTATION_NONE = 0, /* not declared */
    GRAFT_ORIENTATION_UPRIGHT = 1
};

/* [any] The Orientation of an EXIF block, with or without a leading "Exif\0\0"; GRAFT_ORIENTATION_NONE if it has none
 * or cannot be read. */
int32_t graft_exif_orientation(const uint8_t *bytes, size_t length);

/* [any] The same for an XMP packet: the first tiff:Orientation, as an attribute or an element. */
int32_t graft_xmp_orientation(const uint8_t *bytes, size_t length);

/* [any] Rotates and mirrors the image so that it is upright. Unknown orientations change nothing. */
int graft_pixels_turn(struct graft_pixels *pixels, int32_t orientation, const char *source, struct graft_error *error);

#endif
