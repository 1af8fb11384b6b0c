/* SPDX-License-Identifier: Apache-2.0 */
/* Making nodes: shared by the units of this folder only. */
#ifndef GRAFT_MODEL_NODE_H
#define GRAFT_MODEL_NODE_H

#include "model/tree.h"
#include "names/name.h"

/* A node called `name` below `parent` (NULL: the root), not yet among its children. NULL if memory ran out. What is
 * freed is what it points to; itself it stays in the tree's arena. */
struct graft_node *graft_node_create(struct graft_tree *tree, struct graft_node *parent, const char *name);
void graft_node_free(struct graft_node *node);

/* The child of that name, of `length` letters; NULL: none. */
struct graft_node *graft_node_child(const struct graft_node *node, const char *name, size_t length);

/* Puts `child_take` among the parent's children; on failure (-1, out of memory) it is freed. */
int graft_node_adopt(struct graft_node *parent, struct graft_node *child_take);

/* What the conversions of classes above call the module in checkpoints; 0: nothing else than its path. */
int graft_node_alias(const struct graft_node *node, char alias[GRAFT_NAME_BYTES]);

/* A conversion derived from those of the node's class, with room for the names of `n` sources and one target, which the
 * caller fills in; without operations. NULL if memory ran out. */
struct graft_derived *graft_node_derive(struct graft_node *node, size_t n);

/* Number `i` of the names that a checkpoint may have for a parameter in its place, as renamings of the node's class
 * say; NULL behind the last. */
const char *graft_node_renamed(const struct graft_node *node, const char *name, size_t i);

/* Adds to an error over config.json which class of a plugin asked for the field: the file may be as it should be. */
void graft_node_blame(const struct graft_node *node, const struct graft_known_class *known,
                      const struct graft_model_config *config, struct graft_error *error);

#endif
