/* SPDX-License-Identifier: Apache-2.0 */
/* What conditions of replacements look at while a model's tree is built: its config, and its checkpoint. */
#ifndef GRAFT_LIBRARY_FACTS_H
#define GRAFT_LIBRARY_FACTS_H

#include "library/library.h"
#include "plan/presence.h"

struct model_facts {
    struct graft_model_facts facts; /* for graft_tree_build; valid where the struct lies until it is finished */
    struct graft_tree *plain;       /* the three are NULL or empty where no replacement asks for tensors */
    struct graft_model_lists lists;
    struct graft_presence *presence;
};

/* [load] Of a model whose config is read and whose checkpoint is open. `patch` is the load's own, or NULL. Also on
 * failure the caller finishes them. */
int graft_model_facts_make(const struct graft_model *model, const struct graft_tree_options *options,
                           const struct graft_load_patch *patch, struct model_facts *facts, struct graft_error *error);
void graft_model_facts_finish(struct model_facts *facts);

#endif
