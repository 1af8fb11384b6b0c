/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vocabulary of vision towers: what the member "vision" of a family file can say, by number. choices.c has names,
 * bounds and meanings. Expressions read vision_config; those of `model` read all of config.json.
 */
#ifndef GRAFT_ARCH_VISION_CHOICES_H
#define GRAFT_ARCH_VISION_CHOICES_H

#include "arch/data/description.h"

enum {
    V_CLASS_MODEL,
    V_CLASS_TEXT_MODEL,
    V_CLASS_TOWER,
    V_CLASS_PATCH_EMBED,
    V_CLASS_ROTARY,
    V_CLASS_BLOCK,
    V_CLASS_ATTENTION,
    V_CLASS_MLP,
    V_CLASS_MERGER,
    V_CLASS_NORM,
    V_CLASS_MERGER_NORM,

    V_DEPTH,
    V_RUN,
    V_HIDDEN_SIZE,
    V_OUTPUT_SIZE,

    V_MODEL_TOWER,
    V_MODEL_TEXT,
    V_MODEL_PROJECTOR,
    V_MODEL_TEXT_SIZE,
    V_MODEL_IMAGE_TOKEN,
    V_MODEL_VIDEO_TOKEN,
    V_MODEL_PLACE_TOKEN,
    V_MODEL_PLACE_END,
    V_MODEL_BOS_BEHIND,
    V_MODEL_POSITIONS,
    V_MODEL_TIME_RATE,
    V_MODEL_VIDEO,
    V_MODEL_SEES,

    V_PATCH_NAME,
    V_PATCH_CONV,
    V_PATCH_FLAT,
    V_PATCH_CLASS,
    V_PATCH_POSITIONS,
    V_PATCH_CHANNELS,
    V_PATCH_SIZE,
    V_PATCH_FRAMES,
    V_PATCH_BIAS,
    V_PATCH_NORM,

    V_NORM_EPS,
    V_NORM_LAST,
    V_NORM_LAST_USED,

    V_BLOCK_LIST,
    V_BLOCK_ATTENTION_NORM,
    V_BLOCK_ATTENTION,
    V_BLOCK_MLP_NORM,
    V_BLOCK_MLP,

    V_POSITION_NAME,
    V_POSITION_ROWS,
    V_POSITION_BETWEEN,
    V_POSITION_CORNERS,

    V_ATTENTION_HEADS,
    V_ATTENTION_KV_HEADS,
    V_ATTENTION_QKV_BIAS,
    V_ATTENTION_OUTPUT_BIAS,
    V_ATTENTION_QKV,
    V_ATTENTION_QUERY,
    V_ATTENTION_KEY,
    V_ATTENTION_VALUE,
    V_ATTENTION_OUTPUT,
    V_ATTENTION_Q_NORM,
    V_ATTENTION_K_NORM,
    V_ATTENTION_WINDOW,
    V_ATTENTION_WINDOWED,

    V_ROTARY_NAME,
    V_ROTARY_TYPE,
    V_ROTARY_THETA,

    V_MLP_SIZE,
    V_MLP_ACT,
    V_MLP_BIAS,
    V_MLP_GATE,
    V_MLP_UP,
    V_MLP_DOWN,
    V_MLP_ACT_NAME,

    V_MERGER_NAME,
    V_MERGER_SIDE,
    V_MERGER_JOIN,
    V_MERGER_CONV,
    V_MERGER_NORM,
    V_MERGER_BIAS,
    V_MERGER_FIRST,
    V_MERGER_INNER_SIZE,
    V_MERGER_INNER_NORM,
    V_MERGER_ACT,
    V_MERGER_ACT_KIND,
    V_MERGER_SECOND,
    V_MERGER_GATE,
    V_MERGER_GATE_ACT,
    V_MERGER_GATE_SIZE,
    V_MERGER_UP,

    V_DEEPSTACK_NAME,
    V_DEEPSTACK_USE,
    V_COUNT
};

/* The values of V_MODEL_VIDEO, then those of V_POSITION_BETWEEN: places among their words in choices.c. */
enum { V_VIDEO_WHOLE, V_VIDEO_SECONDS_BEFORE, V_VIDEO_SECONDS_BEHIND };
enum { V_BETWEEN_BILINEAR, V_BETWEEN_BICUBIC, V_BETWEEN_NONE };
/* Of V_MODEL_POSITIONS, V_MODEL_SEES and V_MERGER_JOIN. */
enum { V_POSITIONS_AXES, V_POSITIONS_TOKENS };
enum { V_SEES_BEFORE, V_SEES_IMAGE, V_SEES_PROMPT };
enum { V_JOIN_BESIDE, V_JOIN_MEAN };

extern const struct graft_choices graft_vision_choices;

/* A reader of vision_config, which may be absent: then so are its fields. Do not move it: it points into itself. */
struct graft_vision_reader {
    struct graft_reader of;
    struct graft_config_section section;
};

/* [load] Begins to read, outside of layers: set of.layer for choices that blocks differ in. */
void graft_vision_reader_start(struct graft_vision_reader *reader, const struct graft_description *description,
                               const struct graft_config *config, struct graft_error *error);

/* What several classes need to know of a tower. */
struct graft_vision_sizes {
    int64_t depth;
    int64_t run;         /* how many blocks run */
    int64_t hidden_size; /* of a patch */
    int64_t output_size; /* of what the language model gets */
    int64_t heads;
    int64_t head_dim; /* hidden_size / heads */
    int64_t channels;
    int64_t patch;     /* pixels of its sides */
    int64_t frames;    /* of a patch */
    int64_t merge;     /* patches, in each direction, that become one vector; left to the caller to set */
    int64_t deepstack; /* blocks that give something for the language model's first layers */
};

/* [load] Reads and checks them; errors are the reader's. */
void graft_vision_sizes_read(struct graft_vision_reader *reader, struct graft_vision_sizes *sizes);

#endif
