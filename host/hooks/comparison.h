/* SPDX-License-Identifier: Apache-2.0 */
/* Compares every replaced module of a model, and every one with other weights, with the original: both run on the same
 * input, and their outputs, times and bytes of weights are compared. */
#ifndef GRAFT_HOOKS_COMPARISON_H
#define GRAFT_HOOKS_COMPARISON_H

#include "hooks/forward_hooks.h"
#include "hooks/original_call.h"

struct graft_compared_node {
    const struct graft_node *node;     /* the module of the model with replacements */
    const struct graft_node *original; /* the module of the original model; NULL if there is none to compare with */
    const char *reason;                /* why the two are not compared; NULL if they are */
    int64_t calls;
    struct graft_difference largest;
    double seconds; /* of all calls */
    double original_seconds;
    int64_t bytes; /* of weights */
    int64_t original_bytes;
    struct graft_cache *cache; /* the original's cache; NULL until it is used */
};

struct graft_tree_comparison {
    struct graft_compared_node *items; /* in the order of the tree */
    size_t count;
    int32_t slots;
    graft_dtype kv_dtype;
    struct graft_hook_handle *handle;
};

/* [load] Begins to compare the replaced modules of `tree` with `original`, the same model without replacements; if
 * `other_weights` is 1, all modules with parameters, as the weights come from another checkpoint. Both trees are
 * instantiated and outlive the comparison. Batches have at most `slots` slots and a cache that keeps keys and values as
 * `kv_dtype`. */
int graft_tree_comparison_begin(struct graft_tree *tree, struct graft_tree *original, int other_weights, int32_t slots,
                                graft_dtype kv_dtype, struct graft_tree_comparison *comparison,
                                struct graft_error *error);

/* [load] Stops comparing. The results stay valid until graft_tree_comparison_finish. */
void graft_tree_comparison_finish(struct graft_tree_comparison *comparison);

#endif
