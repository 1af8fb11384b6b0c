/* SPDX-License-Identifier: Apache-2.0 */
/* A vision tower: tower.c describes and creates it, tower_forward.c runs it. */
#ifndef GRAFT_ARCH_VISION_TOWER_H
#define GRAFT_ARCH_VISION_TOWER_H

#include "arch/pass.h"
#include "arch/role.h"
#include "arch/vision/choices.h"
#include "arch/vision/stretch.h"

struct graft_tower_block {
    const struct graft_module *module;
    int32_t windowed;                  /* 1: patches attend to their window; 0: to their frame */
    const struct graft_module *merger; /* the deepstack merger for its output; NULL: none */
};

struct graft_tower {
    struct graft_instance base;
    const struct graft_module *patch_embed;
    const struct graft_module *patch_norm;     /* NULL: none, as for the next two */
    const struct graft_module *positions;      /* an embedding of stretch.side^2 rows; NULL: none */
    const struct graft_module *rotary_pos_emb; /* NULL: no rotation */
    const struct graft_module *last_norm;
    int32_t norms_last;                /* 1: what the tower gives is normed by last_norm */
    const struct graft_module *conv;   /* turns squares of patches into vectors before the merger; NULL: none */
    const struct graft_module *merger; /* NULL: the merger is outside of the tower */
    struct graft_vision_sizes sizes;
    int64_t merge; /* patches, in each direction, that become one vector, in the tower or after it */
    struct graft_stretch stretch;
    int64_t square;                    /* fixed length of each side of an image, in patches; 0: any */
    int32_t has_places;                /* 1: patch_embed adds learned positions */
    int32_t has_class;                 /* 1: patch_embed puts a class vector before the patches */
    int64_t window;                    /* length of a window's sides, in merged patches; 0: no windows */
    struct graft_tower_block blocks[]; /* [depth] */
};

#endif
