/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion families and trees: finding modules that fit, and saying what became of them. */
#ifndef GRAFT_MODEL_FUSION_H
#define GRAFT_MODEL_FUSION_H

#include "model/tree.h"
#include "registry/fused_modules.h"

/* What the families asked for found, in the order in which they were asked for. */
struct fusions {
    const struct graft_fused_modules **fused_modules;
    size_t n;
};

/* [load] Asks the families of `options->fusion`, or recalls what they said of the same model before. Two of them that
 * fuse one module are an error. The caller gives the result to graft_model_fusions_finish, also after an error. */
int graft_fusions_find_modules(const struct graft_tree_options *options, struct fusions *fusions,
                               struct graft_error *error);
void graft_model_fusions_finish(struct fusions *fusions);

/* [load] What there is to be built at that path; NULL: nothing else than without fusion. */
const struct graft_candidate *graft_fusions_at(const struct fusions *fusions, const char *path);

/* [load] Whether a conversion of a fused module takes a tensor that a conversion of another module takes: an error that
 * names both. */
int graft_fusions_check_conversions(struct graft_tree *tree, struct graft_error *error);

/* [load] The modules that a family fuses in the model. `*fused` is the caller's reference. */
int graft_fusion_find_modules(const struct graft_tree_options *options, const struct graft_fusion_choice *choice,
                              const struct graft_fused_modules **fused, struct graft_error *error);

/* [load] Registers what the families of `options->fusion` find in the model: their classes in the mapping, their
 * transforms in the list of the model type. A transform of the same source that is there already is an error; then, as
 * after any error, the registry is as it was before. */
int graft_fusion_register(struct graft_registry *registry, const struct graft_tree_options *options,
                          struct graft_error *error);

/* [load] A node, as families are shown it. */
struct graft_module_info graft_module_info_of(const struct graft_node *node);

/* [any] Whether the node is of the class that the family gave. */
int graft_node_is_fused(const struct graft_node *node, const struct graft_candidate *candidate);

/* [any] Whether the candidate was fused in this tree. Where it was not, `reason` (or NULL) is told why. */
int graft_tree_is_fused(const struct graft_tree *tree, const struct graft_candidate *candidate,
                        struct graft_text *reason);

/* [any] What there is to note on a family that fused nothing; nothing is added otherwise. */
void graft_tree_fusion_note(const struct graft_tree *tree, const struct graft_fused_modules *fused,
                            struct graft_text *text);

#endif
