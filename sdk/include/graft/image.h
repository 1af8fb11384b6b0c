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

/* Belongs to the caller, like everything that it points to, until the call that it is passed to returns. */
struct graft_image {
    uint32_t struct_size;
    int32_t sequence;          /* index in the batch of the sequence whose tokens refer to it; set by the host */
    int64_t grid[3];           /* number of patches along time, height and width: a row of `image_grid_thw` */
    int64_t patch_dim;         /* width of a patch: in_channels * temporal_patch_size * patch_size^2 */
    const float *pixel_values; /* [grid t * h * w, patch_dim] */
    int32_t is_video;          /* 1: video tokens refer to it; 0: image tokens */
    int32_t reserved;
    double seconds; /* of a video: seconds from one temporal patch to the next; 0: unknown */
    int64_t frames; /* of a video: number of frames before the last one was repeated; 0: that of all patches */
};

#define GRAFT_IMAGE_SIZE_1_0 GRAFT_END_OF(struct graft_image, reserved)

GRAFT_ASSERT_SIZE(struct graft_image, 72);

#ifdef __cplusplus
}
#endif

#endif
