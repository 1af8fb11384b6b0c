/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the bytes of weights, and the bytes of weights that a call reads. */
#ifndef GRAFT_HOOKS_BYTES_H
#define GRAFT_HOOKS_BYTES_H

#include "hooks/forward_hooks.h"

/* [any] The bytes of the parameters of a bound module and of all modules below it. */
int64_t graft_node_bytes(const struct graft_node *node);

/* The number of a model's weights, and the bytes that hold them, including scales and the like. */
struct graft_weight_count {
    int64_t weights;
    int64_t bytes;
};

/* [any] The weights of a bound tree. Weights that several modules share count once. */
struct graft_weight_count graft_tree_weights(struct graft_tree *tree);

/* [any] How many weights `bytes` of the module's own parameters stand for. */
int64_t graft_node_weights_of(const struct graft_node *node, int64_t bytes);

/* [any] The bytes of the module's own parameters that a call reads: the rows looked up of an embedding, the chosen ones
 * of stacked experts, else all, once. Modules below count in their own calls. */
int64_t graft_hooked_call_bytes(const struct graft_hooked_call *hooked);

#endif
