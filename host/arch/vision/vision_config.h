/* SPDX-License-Identifier: Apache-2.0 */
/* What config.json says about a vision tower, checked; and what its classes are called. */
#ifndef GRAFT_ARCH_VISION_VISION_CONFIG_H
#define GRAFT_ARCH_VISION_VISION_CONFIG_H

#include "arch/section.h"
#include "graft/class.h"
#include "graft/config.h"

/* Fields have the names they have in `vision_config`. */
struct graft_vision_config {
    int64_t depth;
    int64_t embed_dim;
    int64_t hidden_size; /* of the language model */
    int64_t num_heads;
    int64_t in_channels;
    int64_t patch_size;
    int64_t spatial_merge_size;
    int64_t temporal_patch_size;
    int64_t head_dim;          /* embed_dim / num_heads */
    int64_t intermediate_size; /* embed_dim * mlp_ratio */
    double rope_theta;
};

/* The `data` of the classes of a tower, and of the model that has it. */
struct graft_vision_traits {
    /* The names of its classes. */
    const char *tower;
    const char *patch_embed;
    const char *rotary_embedding;
    const char *block;
    const char *attention;
    const char *mlp;
    const char *merger;
    const char *text_model;
    int64_t text_size; /* hidden_size of the language model, where the config does not say; likewise: */
    int64_t image_token_id;
    int64_t video_token_id;
};

/* [load] Reads and checks `vision_config`; errors name file and field. */
int graft_vision_config_read(const struct graft_config *config, struct graft_vision_config *vision,
                             struct graft_error *error);

/* [load] The same from a `describe`, into memory that `create` is given as `kept`. */
int graft_vision_config_keep(const struct graft_config *config, const struct graft_sink *sink,
                             const struct graft_vision_config **vision, struct graft_error *error);

#endif
