/* SPDX-License-Identifier: Apache-2.0 */
/* Where the images and videos of a batch go among its tokens, and which rotary positions follow (Wang et al. 2024,
 * section 2.1).
 */
#ifndef GRAFT_ARCH_VISION_PLACEMENT_H
#define GRAFT_ARCH_VISION_PLACEMENT_H

#include "graft/base_model.h"

/* [any] Image or video number `i` of the batch. */
const struct graft_image *graft_placement_image(const struct graft_base_model_args *args, int32_t i);

/* [forward] How many tokens the images and videos take, `merge` x `merge` patches a token. Grids that do not divide are
 * errors. */
int graft_placement_count(const struct graft_base_model_args *args, int64_t merge, int64_t *tokens,
                          struct graft_error *error);

/* The tokens that stand for images and videos, and how times become positions. */
struct graft_placeholders {
    int64_t image_token_id;
    int64_t video_token_id; /* -1: none; may be that of images */
    double time_rate;       /* positions in a second of a video; below 0: one for each patch along time */
    int32_t is_plain;       /* 1: positions are those of tokens, and stay as they are */
    int32_t by_frame;       /* 1: each patch of a video along time has a run of tokens, with a position of its own */
};

/* What graft_placement_fill fills in. */
struct graft_placement {
    int64_t *positions; /* [3, tokens] */
    int32_t *rows;      /* [as many as were counted]: the tokens that images and videos take, in their order */
};

/* [forward] Also writes the batch's next_rotary_offsets. Images or videos that do not match the runs of their tokens
 * are errors; a batch that has neither may hold such tokens, which a model may generate: they are tokens like others.
 */
int graft_placement_fill(const struct graft_base_model_args *args, const struct graft_placeholders *placeholders,
                         int64_t merge, const struct graft_placement *placement, struct graft_error *error);

#endif
