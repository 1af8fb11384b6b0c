/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the units of this folder only. */
#ifndef GRAFT_IMAGE_PATCHES_H
#define GRAFT_IMAGE_PATCHES_H

#include "image/processor.h"

/* values [patches, channels, temporal_patch_size, patch_size, patch_size]: rescaled and normalised, patches by squares
 * of merge_size x merge_size, a single image standing for all frames. Sides must be multiples of both sizes' product.
 */
void graft_fill_patches(const struct graft_processor_config *config, const struct graft_pixels *pixels, float *values);

#endif
