/* SPDX-License-Identifier: Apache-2.0 */
/* The choices of vision towers, by number: what the member "vision" of a family file can contain. choice_list.h has
 * their names, bounds and meanings. */
#ifndef GRAFT_ARCH_VISION_CHOICES_H
#define GRAFT_ARCH_VISION_CHOICES_H

#include "arch/outline.h"

enum {
#define CHOICE(number, ...) number,
#include "arch/vision/choice_list.h"
#undef CHOICE
    V_COUNT
};

/* Values of the choices V_MODEL_VIDEO and V_POSITION_BETWEEN, in the order of their words in choice_list.h. */
enum { V_VIDEO_WHOLE, V_VIDEO_SECONDS_BEFORE, V_VIDEO_SECONDS_AFTER };
enum { V_BETWEEN_BILINEAR, V_BETWEEN_BICUBIC, V_BETWEEN_NONE };
/* Values of V_MODEL_POSITIONS, V_MODEL_SEES and V_MERGER_JOIN. */
enum { V_POSITIONS_AXES, V_POSITIONS_TOKENS };
enum { V_SEES_BEFORE, V_SEES_IMAGE, V_SEES_PROMPT };
enum { V_JOIN_BESIDE, V_JOIN_MEAN };

extern const struct graft_choices graft_vision_choices;

/* The section that readers of towers read as if it were all of config.json; if it is absent, so are its fields. */
#define GRAFT_VISION_SECTION "vision_config"

/* [load] Starts an outline whose reader reads vision_config (graft_outline_start). */
void *graft_vision_start(struct graft_outline *of, const struct graft_class *cls, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, size_t size, int64_t members,
                         struct graft_error *error);
#define GRAFT_VISION_OUTLINED(role, type) GRAFT_OUTLINED_FROM(graft_vision_start, role, type, GRAFT_OUTLINE_MEMBERS)

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
    int64_t deepstack; /* number of blocks whose output goes to the language model's first layers */
};

/* [load] Reads and checks the sizes; errors are kept in the reader. */
void graft_vision_sizes_read(struct graft_reader *of, struct graft_vision_sizes *sizes);

#endif
