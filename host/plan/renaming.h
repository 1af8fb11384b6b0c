/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that checkpoints know by another name. Shared by the units of this folder only. */
#ifndef GRAFT_PLAN_RENAMING_H
#define GRAFT_PLAN_RENAMING_H

#include "model/tree.h"
#include "names/name.h"

struct renaming {
    const char *module;                        /* its path in the tree: "model.layers.0.mlp" */
    const char *parent;                        /* that of the module whose class renames it: "model.layers.0" */
    const struct graft_conversion *conversion; /* that says so */
};

struct renamings {
    struct renaming *items; /* in the order of the tree: of one module the last counts */
    size_t count;
    size_t capacity;
    uint32_t *slots; /* [n_slots]: numbers of items from 1 on, by the hash of their modules; 0: none */
    size_t n_slots;  /* a power of two */
};

/* Lists the renamings of modules among the conversions of a tree's classes, which are in effect where their class
 * describes a module. Also on failure the caller frees the list. */
int graft_renamings_collect(struct graft_tree *tree, struct renamings *renamings, struct graft_error *error);
void graft_renamings_free(struct renamings *renamings);

/* What a name below renamed modules is in checkpoints. Returns the innermost renaming; NULL when there is none, or when
 * the name is too long. */
const struct graft_conversion *graft_renamings_apply(const struct renamings *renamings, const char *name,
                                                     char renamed[GRAFT_NAME_BYTES]);

#endif
