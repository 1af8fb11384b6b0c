/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules that are alike: a mixture of experts has thousands, each with the same class, arguments and children. The
 * first of them is described; the others share what it says, and have only names, parameters and instances of their
 * own. A module's own class is always looked up at its path; a description is shared only where nothing in it, or in
 * those below, depends on a path or on tensors. Used in this folder only.
 */
#ifndef GRAFT_MODEL_ALIKE_H
#define GRAFT_MODEL_ALIKE_H

#include "registry/registry.h"

struct builder;
struct graft_node;

struct alike;
enum { GRAFT_ALIKE_BUCKETS = 64 };

/* The described modules that others may be like. Starts as zeros. */
struct alikes {
    struct alike *buckets[GRAFT_ALIKE_BUCKETS];
};

/* An earlier module that `node` is like, as its class and arguments are those that were found for the node; NULL if
 * there is none, or if its description would exceed a limit here, which describing the node reports. */
const struct alike *graft_alike_find(const struct builder *builder, const struct graft_node *node);

/* Gives the node everything that the earlier module's description says. */
int graft_alike_repeat(struct builder *builder, struct graft_node *node, const struct alike *alike,
                       struct graft_error *error);

/* Keeps a described module for others to be like; `n_nodes` and `n_parameters` are those of the tree before it was
 * described. Without memory for it, the others are described as well. */
void graft_alike_keep(struct builder *builder, struct graft_node *node, size_t n_nodes, size_t n_parameters);

#endif
