/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that checkpoints call by another name. Used in this folder only. */
#ifndef GRAFT_PLAN_RENAMING_H
#define GRAFT_PLAN_RENAMING_H

#include "model/tree.h"
#include "names/name.h"

struct renaming {
    const char *module;                        /* the module's path in the tree: "model.layers.0.mlp" */
    const char *parent;                        /* path of the module whose class renames it: "model.layers.0" */
    const struct graft_conversion *conversion; /* the conversion that renames it */
};

struct renamings {
    struct renaming *items; /* in the order of the tree; the last one of a module counts */
    size_t count;
    size_t capacity;
    uint32_t *slots; /* [n_slots] hash table of modules: index into `items` plus 1; 0: free */
    size_t n_slots;  /* a power of two */
};

/* Collects the renamings of modules among the conversions of a tree's classes; they apply where their class describes a
 * module. The caller frees the list, even on failure. */
int graft_renamings_collect(struct graft_tree *tree, struct renamings *renamings, struct graft_error *error);
void graft_renamings_free(struct renamings *renamings);

/* Writes the checkpoint's spelling of a name below renamed modules. Returns the innermost renaming, or NULL if there is
 * none or the name is too long. */
const struct graft_conversion *graft_renamings_apply(const struct renamings *renamings, const char *name,
                                                     char renamed[GRAFT_NAME_BYTES]);

#endif
