/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the units of this folder only. */
#ifndef GRAFT_IMAGE_PATCHES_H
#define GRAFT_IMAGE_PATCHES_H

#include "image/processor.h"

/* values [patches, channels, temporal_patch_size, patch_size, patch_size]: the image as frames `first` to
 * temporal_patch_size - 1 of each patch, rescaled and normalised, patches by squares of merge_size x merge_size. Sides
 * must be multiples of both sizes' product. */
void graft_fill_patches(const struct graft_processor_config *config, const struct graft_pixels *pixels, int64_t first,
                        float *values);

/* Resizes `pixels` in place, one of as many frames (1 of an image), or checks that their sides are multiples where the
 * config says not to resize. */
int graft_fit_pixels(const struct graft_processor_config *config, int64_t frames, struct graft_pixels *pixels,
                     const char *source, struct graft_error *error);

/* An image of `times` patches along time whose frames have the size of `pixels`, its pixel values to be filled in. */
int graft_start_image(const struct graft_processor_config *config, const struct graft_pixels *pixels, int64_t times,
                      const char *source, struct graft_image *image, struct graft_error *error);

#endif
