/* SPDX-License-Identifier: Apache-2.0 */
/* A fusion family's conversions as a list of transforms for all models of a type, which registering a fusion adds. */
#ifndef GRAFT_REGISTRY_FUSION_TRANSFORMS_H
#define GRAFT_REGISTRY_FUSION_TRANSFORMS_H

#include "graft/host/registry.h"
#include "registry/fused_modules.h"

struct graft_fusion_transforms {
    struct graft_weight_transform *items; /* [n] */
    size_t n;
    struct graft_candidate *collected; /* owns the conversions of the items */
    const char **patterns;             /* [n_patterns] source and target patterns of the items */
    size_t n_patterns;
};

/* [load] Makes the family's transforms for modules called `module_name` ("patch_embed"), with sizes from the config or,
 * if `module` is not NULL, from that module. The caller passes them to graft_fusion_transforms_finish, also after an
 * error. */
int graft_fusion_transforms_make(const struct graft_known_fusion *known, const char *module_name,
                                 const struct graft_config *config, const struct graft_config *options,
                                 const struct graft_module_info *module, struct graft_fusion_transforms *made,
                                 struct graft_error *error);
void graft_fusion_transforms_finish(struct graft_fusion_transforms *made);

#endif
