/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion families and trees: finds modules that can be fused, and reports what was fused. */
#ifndef GRAFT_MODEL_FUSION_H
#define GRAFT_MODEL_FUSION_H

#include "model/tree.h"
#include "registry/fused_modules.h"

/* The modules found by the fusion families asked for, in the order of the request. */
struct fusions {
    const struct graft_fused_modules **fused_modules;
    size_t n;
};

/* [load] Asks the families of `options->fusion`, or recalls their answers for the same model. Two families that fuse
 * the same module are an error. The caller finishes the result, also after an error. */
int graft_fusions_find_modules(const struct graft_tree_options *options, struct fusions *fusions,
                               struct graft_error *error);
void graft_model_fusions_finish(struct fusions *fusions);

/* [load] The candidate to build at a path; NULL if no family fuses the module. */
const struct graft_candidate *graft_fusions_at(const struct fusions *fusions, const char *path);

/* [load] Fails if a conversion of a fused module takes a tensor that a conversion of another module takes; the error
 * names both. */
int graft_fusions_check_conversions(struct graft_tree *tree, struct graft_error *error);

/* [load] Finds the modules that a family fuses in the model. `*fused` is a reference for the caller. */
int graft_fusion_find_modules(const struct graft_tree_options *options, const struct graft_fusion_choice *choice,
                              const struct graft_fused_modules **fused, struct graft_error *error);

/* [load] Registers what the families of `options->fusion` find in the model: their classes in the mapping, their
 * transforms in the list of the model type. If the list has another transform of the same source, that is an error.
 * After an error the registry is unchanged. */
int graft_fusion_register(struct graft_registry *registry, const struct graft_tree_options *options,
                          struct graft_error *error);

/* [load] The information about a node that families get. */
struct graft_module_info graft_module_info_of(const struct graft_node *node);

/* [any] Whether the node's class is the one that the family gave for it. */
int graft_node_is_fused(const struct graft_node *node, const struct graft_candidate *candidate);

/* [any] Whether the candidate was fused in this tree. If not, the reason is added to `reason`, which may be NULL. */
int graft_tree_is_fused(const struct graft_tree *tree, const struct graft_candidate *candidate,
                        struct graft_text *reason);

/* [any] Adds the note on a family that fused nothing; adds nothing otherwise. */
void graft_tree_fusion_note(const struct graft_tree *tree, const struct graft_fused_modules *fused,
                            struct graft_text *text);

#endif
