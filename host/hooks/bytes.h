/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes of weights there are, and how many a call reads. */
#ifndef GRAFT_HOOKS_BYTES_H
#define GRAFT_HOOKS_BYTES_H

#include "hooks/forward_hooks.h"

/* [any] Of a bound module's parameters and of those below it. */
int64_t graft_node_bytes(const struct graft_node *node);

/* Of a model: what it was trained with, and the bytes that hold it, scales and the like included. */
struct graft_weight_count {
    int64_t weights;
    int64_t bytes;
};

/* [any] Of a bound tree; weights that several modules share count once. */
struct graft_weight_count graft_tree_weights(struct graft_tree *tree);

/* [any] How many of them are read with so many bytes of a module's own parameters. */
int64_t graft_node_weights_of(const struct graft_node *node, int64_t bytes);

/* [any] What a call reads of the module's own parameters (those below count where they are called): of an embedding the
 * rows asked for, of stacked experts those chosen, else all, once. */
int64_t graft_hooked_call_bytes(const struct graft_hooked_call *hooked);

#endif
