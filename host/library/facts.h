/* SPDX-License-Identifier: Apache-2.0 */
/* Facts for the conditions of replacements while a model's tree is built: its config and its checkpoint. */
#ifndef GRAFT_LIBRARY_FACTS_H
#define GRAFT_LIBRARY_FACTS_H

#include "library/library.h"
#include "plan/presence.h"

struct model_facts {
    struct graft_model_facts facts; /* for graft_tree_build; points into this struct, which must not move */
    struct graft_tree *plain;       /* these three are NULL or empty if no replacement has a condition on tensors */
    struct graft_model_lists lists;
    struct graft_presence *presence;
};

/* [load] Makes the facts of a model whose config is read and whose checkpoint is open. `patch` is the load patch or
 * NULL. The caller finishes it, even on failure. */
int graft_model_facts_make(const struct graft_model *model, const struct graft_tree_options *options,
                           const struct graft_load_patch *patch, struct model_facts *facts, struct graft_error *error);
void graft_model_facts_finish(struct model_facts *facts);

#endif
