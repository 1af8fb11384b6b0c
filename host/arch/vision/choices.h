/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vocabulary of vision towers: what the member "vision" of a family file can say, by number. choice_list.h has
 * their names, bounds and meanings.
 */
#ifndef GRAFT_ARCH_VISION_CHOICES_H
#define GRAFT_ARCH_VISION_CHOICES_H

#include "arch/data/description.h"

enum {
#define CHOICE(number, info) number,
#include "arch/vision/choice_list.h"
#undef CHOICE
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
