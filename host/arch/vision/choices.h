/* SPDX-License-Identifier: Apache-2.0 */
/* The choices of vision towers, by number: what the member "vision" of a family file can contain. choice_list.h has
 * their names, bounds and meanings. */
#ifndef GRAFT_ARCH_VISION_CHOICES_H
#define GRAFT_ARCH_VISION_CHOICES_H

#include "arch/data/description.h"

enum {
#define CHOICE(number, info) number,
#include "arch/vision/choice_list.h"
#undef CHOICE
    V_COUNT
};

/* Values of the choices V_MODEL_VIDEO and V_POSITION_BETWEEN, in the order of their words in choices.c. */
enum { V_VIDEO_WHOLE, V_VIDEO_SECONDS_BEFORE, V_VIDEO_SECONDS_BEHIND };
enum { V_BETWEEN_BILINEAR, V_BETWEEN_BICUBIC, V_BETWEEN_NONE };
/* Values of V_MODEL_POSITIONS, V_MODEL_SEES and V_MERGER_JOIN. */
enum { V_POSITIONS_AXES, V_POSITIONS_TOKENS };
enum { V_SEES_BEFORE, V_SEES_IMAGE, V_SEES_PROMPT };
enum { V_JOIN_BESIDE, V_JOIN_MEAN };

extern const struct graft_choices graft_vision_choices;

/* Reads fields of vision_config; if that is absent, so are its fields. Do not copy it: it contains pointers to
 * itself. */
struct graft_vision_reader {
    struct graft_reader of;
    struct graft_config_section section;
};

/* [load] Starts a reader that is in no layer. Set of.layer to read choices that differ between blocks. */
void graft_vision_reader_start(struct graft_vision_reader *reader, const struct graft_description *description,
                               const struct graft_config *config, struct graft_error *error);

/* Sizes of a tower that several classes need. */
struct graft_vision_sizes {
    int64_t depth;
    int64_t run;         /* number of blocks that run */
    int64_t hidden_size; /* width of a patch's vector */
    int64_t output_size; /* width of the vectors for the language model */
    int64_t heads;
    int64_t head_dim; /* hidden_size / heads */
    int64_t channels;
    int64_t patch;     /* pixels on each side of a patch */
    int64_t frames;    /* frames in a patch */
    int64_t merge;     /* patches, in each direction, that become one vector; set by the caller */
    int64_t deepstack; /* number of blocks whose output goes to the language model's first layers */
};

/* [load] Reads and checks the sizes; errors are kept in the reader. */
void graft_vision_sizes_read(struct graft_vision_reader *reader, struct graft_vision_sizes *sizes);

#endif
