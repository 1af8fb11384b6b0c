/* SPDX-License-Identifier: Apache-2.0 */
/* Every replaced module of a model, and every one with other weights, beside the original: the same input, both
 * outputs, the time and the weights of both. */
#ifndef GRAFT_HOOKS_COMPARISON_H
#define GRAFT_HOOKS_COMPARISON_H

#include "hooks/forward_hooks.h"
#include "hooks/original_call.h"

struct graft_compared_node {
    const struct graft_node *node;     /* of the replaced model */
    const struct graft_node *original; /* in the other tree; NULL if there is none to compare with */
    const char *reason;                /* why the two are not compared; NULL if they are */
    int64_t calls;
    struct graft_difference largest;
    double seconds; /* of all calls */
    double original_seconds;
    int64_t bytes; /* of weights */
    int64_t original_bytes;
    struct graft_cache *cache; /* the original's; NULL until used */
};

struct graft_tree_comparison {
    struct graft_compared_node *items; /* in the tree's order */
    size_t count;
    int32_t slots;
    graft_dtype kv_dtype;
    struct graft_hook_handle *handle;
};

/* [load] Begins to compare what is replaced in `tree` with `original`, the same model without replacements; with
 * `other_weights`, which come from another checkpoint, all that has parameters. Both are instantiated and outlive the
 * comparison. Batches have at most `slots` slots, and a cache that keeps keys and values as `kv_dtype`. */
int graft_tree_comparison_begin(struct graft_tree *tree, struct graft_tree *original, int other_weights, int32_t slots,
                                graft_dtype kv_dtype, struct graft_tree_comparison *comparison,
                                struct graft_error *error);

/* [load] Stops. The results stay valid until graft_tree_comparison_finish. */
void graft_tree_comparison_end(struct graft_tree_comparison *comparison);
void graft_tree_comparison_finish(struct graft_tree_comparison *comparison);

#endif
