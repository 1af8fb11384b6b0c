/* SPDX-License-Identifier: Apache-2.0 */
/* Makes nodes. Used in this folder only. */
#ifndef GRAFT_MODEL_NODE_H
#define GRAFT_MODEL_NODE_H

#include "model/tree.h"
#include "names/name.h"

/* Makes a node called `name` below `parent` (NULL: the root) that is not yet among the parent's children; NULL if
 * memory ran out. The node is in the tree's arena; freeing it frees what it points to. */
struct graft_node *graft_node_create(struct graft_tree *tree, struct graft_node *parent, const char *name);
void graft_node_free(struct graft_node *node);

/* The child of that name, of `length` letters; NULL if there is none. */
struct graft_node *graft_node_child(const struct graft_node *node, const char *name, size_t length);

/* Adds `child_take` to the parent's children. Returns 0, or -1 if memory ran out; then the child is freed. */
int graft_node_adopt(struct graft_node *parent, struct graft_node *child_take);

/* Writes the module's path in checkpoints, by conversions of classes above. Returns 0 if it is the path itself. */
int graft_node_alias(const struct graft_node *node, char alias[GRAFT_NAME_BYTES]);

/* Adds a derived conversion to the node, without operations and with room for the names of `n` sources and one target,
 * which the caller fills in; NULL if memory ran out. */
struct graft_derived *graft_node_derive(struct graft_node *node, size_t n);

/* Alternative name number `i` that a checkpoint may have for a parameter, by renamings of the node's class; NULL after
 * the last. */
const char *graft_node_renamed(const struct graft_node *node, const char *name, size_t i);

/* Adds the plugin's class that asked for the field to an error of config.json, as the file may be right. */
void graft_node_blame(const struct graft_node *node, const struct graft_known_class *known,
                      const struct graft_model_config *config, struct graft_error *error);

/* [any] Whether two parameters are described alike, under the same name. */
int graft_node_same_parameter(const struct graft_parameter *a, const struct graft_parameter *b);

/* [any] Whether two descriptions keep the same bytes for `create`. */
int graft_node_same_kept(const struct graft_node *a, const struct graft_node *b);

#endif
