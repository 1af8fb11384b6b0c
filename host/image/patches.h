/* SPDX-License-Identifier: Apache-2.0 */
/* Turns pixels into patches. Used in this folder only. */
#ifndef GRAFT_IMAGE_PATCHES_H
#define GRAFT_IMAGE_PATCHES_H

#include "image/processor.h"

/* Fills values [patches, channels, temporal_patch_size, patch_size, patch_size]: the image, rescaled and normalised, as
 * frames `first` to temporal_patch_size - 1 of each patch. Patches are ordered by squares of merge_size x merge_size.
 * Sides must be multiples of patch_size * merge_size. */
void graft_fill_patches(const struct graft_processor_config *config, const struct graft_pixels *pixels, int64_t first,
                        float *values);

/* Resizes `pixels` in place, or checks that their sides are multiples if the config says not to resize. They are one of
 * `frames` frames; an image has 1. */
int graft_fit_pixels(const struct graft_processor_config *config, int64_t frames, struct graft_pixels *pixels,
                     const char *source, struct graft_error *error);

/* Resizes and crops `pixels` in place, for processors whose images all have one size. */
int graft_fit_fixed(const struct graft_processor_config *config, struct graft_pixels *pixels, const char *source,
                    struct graft_error *error);

/* Allocates an image of `times` patches along time whose frames have the size of `pixels`. The pixel values are filled
 * in later. */
int graft_start_image(const struct graft_processor_config *config, const struct graft_pixels *pixels, int64_t times,
                      const char *source, struct graft_image *image, struct graft_error *error);

#endif
