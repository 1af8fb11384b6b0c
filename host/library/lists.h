/* SPDX-License-Identifier: Apache-2.0 */
/* The transforms for the checkpoint of one model: registered lists, the load patch, names of old checkpoints. */
#ifndef GRAFT_LIBRARY_LISTS_H
#define GRAFT_LIBRARY_LISTS_H

#include "arch/arch.h"
#include "graft/host/registry.h"
#include "model/tree.h"
#include "names/key_list.h"
#include "plan/lookup.h"

struct graft_model_lists {
    struct key_list transforms;
    size_t n_forced; /* how many of the first transforms are the load patch's */
    int32_t *used;   /* [n_forced]: whether the transform matched a name of the checkpoint */
    struct conversion_filter without;
    int32_t layout_patched; /* whether a load patch changes the layout */
    int32_t is_fixed;       /* 1: the lists are the same for every tree of the model, because none is registered */
    int32_t is_idle;        /* 1: no transform matches any name of the checkpoint */
};

/* [load] Collects the transforms for a tree: the patch's conversions (NULL: no patch), the list of the root's class or
 * else of the model type, those of other modules' classes, each for the names below its module, and the legacy names.
 * Marks modules whose class's conversions a list replaces. The caller finishes it, even on failure. */
int graft_model_lists_make(struct graft_tree *tree, const struct graft_load_patch *patch,
                           const struct graft_family *family, struct graft_model_lists *lists,
                           struct graft_error *error);
void graft_model_lists_finish(struct graft_model_lists *lists);

#endif
