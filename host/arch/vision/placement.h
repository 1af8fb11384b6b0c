/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the tokens of a batch that stand for images and videos, and computes rotary positions (Wang et al. 2024,
 * section 2.1). */
#ifndef GRAFT_ARCH_VISION_PLACEMENT_H
#define GRAFT_ARCH_VISION_PLACEMENT_H

#include "graft/base_model.h"

/* [any] Image or video `i` of the batch. */
const struct graft_image *graft_placement_image(const struct graft_base_model_args *args, int32_t i);

/* [forward] Counts the tokens of all images and videos, each for `merge` x `merge` patches. It is an error if a grid is
 * not divisible. */
int graft_placement_count(const struct graft_base_model_args *args, int64_t merge, int64_t *tokens,
                          struct graft_error *error);

/* Tokens that stand for images and videos, and how time becomes positions. */
struct graft_placeholders {
    int64_t image_token_id;
    int64_t video_token_id; /* -1: none; may equal image_token_id */
    double time_rate;       /* positions for a second of a video; below 0: one for each temporal patch */
    int32_t is_plain;       /* 1: positions of tokens are used unchanged */
    int32_t by_frame;       /* 1: each temporal patch of a video has a run of tokens with its own position */
};

/* The result of graft_placement_fill. */
struct graft_placement {
    int64_t *positions; /* [3, tokens] */
    int32_t *rows;      /* [count]: tokens that stand for images and videos, in order */
};

/* [forward] Finds tokens and positions, and sets the batch's next_rotary_offsets. It is an error if images or videos do
 * not match the runs of their tokens. In a batch without any, such tokens are ordinary ones, since a model may generate
 * them. */
int graft_placement_fill(const struct graft_base_model_args *args, const struct graft_placeholders *placeholders,
                         int64_t merge, const struct graft_placement *placement, struct graft_error *error);

#endif
