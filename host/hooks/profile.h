/* SPDX-License-Identifier: Apache-2.0 */
/* Time and bytes of weights by class, while a model runs. */
#ifndef GRAFT_HOOKS_PROFILE_H
#define GRAFT_HOOKS_PROFILE_H

#include "graft/host/observe.h"
#include "hooks/forward_hooks.h"

struct graft_tree_profile {
    struct graft_profile_row *rows;
    size_t count;
    size_t capacity;
    int64_t bytes[GRAFT_PHASES];    /* of weights read in all */
    int32_t phase;                  /* this and the following are the caller's to set */
    int32_t which;                  /* GRAFT_PROFILE_... */
    struct graft_tree *counterpart; /* NULL; or the hooked tree is of the original modules, and the rows are of those
                                       that this one has replaced */
    struct graft_hook_handle *handle;
};

/* [load] Begins; the tree outlives the profile. What was counted before is kept, so that a profile can be of several
 * runs. */
int graft_tree_profile_begin(struct graft_tree_profile *profile, struct graft_tree *tree, struct graft_error *error);

/* [load] Stops. The results stay valid until graft_tree_profile_finish. */
void graft_tree_profile_end(struct graft_tree_profile *profile);
void graft_tree_profile_finish(struct graft_tree_profile *profile);

#endif
