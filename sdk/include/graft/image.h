/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image or a video as a model takes it: patches of pixel values, normalised, in the order that the vision tower
 * wants them (for Qwen2-VL by squares of spatial_merge_size^2 patches that become one token). A video is an image that
 * lasts: its grid goes on along time, and its place in a prompt is marked by tokens of its own.
 */
#ifndef GRAFT_IMAGE_H
#define GRAFT_IMAGE_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's, as all that it points to, until the call returns that it is given to. */
struct graft_image {
    uint32_t struct_size;
    int32_t sequence;          /* of the batch: whose tokens it belongs to; the host fills it in */
    int64_t grid[3];           /* patches along time, height and width: a row of `image_grid_thw` */
    int64_t patch_dim;         /* numbers in a patch: in_channels * temporal_patch_size * patch_size^2 */
    const float *pixel_values; /* [grid t * h * w, patch_dim] */
    int32_t is_video;          /* 1: video tokens stand for it; 0: image tokens */
    int32_t reserved;
    double seconds; /* of a video: from one patch along time to the next; 0: it is not known */
    int64_t frames; /* of a video: as many as it had before the last was repeated; 0: all of its patches' */
};

#define GRAFT_IMAGE_SIZE_1_0 GRAFT_END_OF(struct graft_image, reserved)

GRAFT_ASSERT_SIZE(struct graft_image, 72);

#ifdef __cplusplus
}
#endif

#endif
