/* SPDX-License-Identifier: Apache-2.0 */
/* Measures time and bytes of weights by class while a model runs. */
#ifndef GRAFT_HOOKS_PROFILE_H
#define GRAFT_HOOKS_PROFILE_H

#include "graft/host/observe.h"
#include "hooks/forward_hooks.h"

struct graft_tree_profile {
    struct graft_profile_row *rows;
    size_t count;
    size_t capacity;
    int64_t bytes[GRAFT_PHASES];    /* bytes of weights read */
    int32_t phase;                  /* set by the caller, like the next members */
    int32_t which;                  /* GRAFT_PROFILE_... */
    struct graft_tree *counterpart; /* NULL; or the hooked tree is of the original modules, and the rows are of those
                                       that this one has replaced */
    struct graft_hook_handle *handle;
};

/* [load] Begins to measure; the tree outlives the profile. Earlier results are kept, so that a profile can cover
 * several runs. */
int graft_tree_profile_begin(struct graft_tree_profile *profile, struct graft_tree *tree, struct graft_error *error);

/* [load] Stops measuring. The results stay valid until graft_tree_profile_finish. */
void graft_tree_profile_end(struct graft_tree_profile *profile);
void graft_tree_profile_finish(struct graft_tree_profile *profile);

#endif
