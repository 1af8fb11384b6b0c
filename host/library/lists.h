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
    size_t n_forced; /* the first ones, so many, are the load patch's */
    int32_t *used;   /* [n_forced]: whether a name of the checkpoint matched */
    struct conversion_filter without;
    int32_t layout_patched; /* a load patch changes the layout */
    int32_t is_fixed;       /* 1: they are the same for every tree of the model: nobody has registered lists */
    int32_t is_idle;        /* 1: it is known that none is for any name of the checkpoint */
};

/* [load] Collects them for a tree: the patch's conversions (NULL: no patch), the list of the root's class or else of
 * the model type, those of the classes of other modules, each for the names below its module, and the legacy names.
 * Modules whose class's conversions a list takes the place of are marked. Also on failure the caller finishes them. */
int graft_model_lists_make(struct graft_tree *tree, const struct graft_load_patch *patch,
                           const struct graft_family *family, struct graft_model_lists *lists,
                           struct graft_error *error);
void graft_model_lists_finish(struct graft_model_lists *lists);

#endif
