/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that a group of replacements replaces together. All functions are [any]. */
#ifndef GRAFT_HOOKS_GROUP_H
#define GRAFT_HOOKS_GROUP_H

#include "model/tree.h"

/* Whether the module was replaced together with others, which may divide the work among them differently. */
int graft_group_has(const struct graft_tree *tree, const struct graft_node *node);

/* The nearest of a module of a group and those above it in which there is one of each replacement of the group that the
 * tree has: the work that they divide is done there. It can be hooked; NULL if there is none. */
const struct graft_node *graft_group_above(const struct graft_tree *tree, const struct graft_node *node);

#endif
