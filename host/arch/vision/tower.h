/* SPDX-License-Identifier: Apache-2.0 */
/* A vision tower in parts: tower.c describes it, tower_forward.c runs it. */
#ifndef GRAFT_ARCH_VISION_TOWER_H
#define GRAFT_ARCH_VISION_TOWER_H

#include "arch/role.h"
#include "arch/vision/choices.h"
#include "arch/vision/stretch.h"

struct graft_tower_block {
    const struct graft_module *module;
    int32_t windowed;                  /* 1: patches see their window, 0: their frame */
    const struct graft_module *merger; /* the deepstack merger that takes its output; NULL: none */
};

struct graft_tower {
    struct graft_instance base;
    const struct graft_module *patch_embed;
    const struct graft_module *patch_norm;     /* NULL: none, like the two below */
    const struct graft_module *positions;      /* an embedding of stretch.side^2 rows; NULL: none */
    const struct graft_module *rotary_pos_emb; /* NULL: nothing rotates */
    const struct graft_module *last_norm;
    const struct graft_module *conv;   /* of the squares of patches that become one vector, before the merger */
    const struct graft_module *merger; /* NULL: it is beside the tower */
    struct graft_vision_sizes sizes;
    struct graft_stretch stretch;
    int64_t square;                    /* length of each side of an image, in patches, if it is fixed; 0: any */
    int32_t has_places;                /* 1: patch_embed adds learned positions */
    int32_t has_class;                 /* 1: it has a vector for the whole image, which goes before its patches */
    int64_t window;                    /* length of each side of a window, in merged patches; 0: there are no windows */
    struct graft_tower_block blocks[]; /* [depth] */
};

#endif
