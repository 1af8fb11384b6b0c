/* SPDX-License-Identifier: Apache-2.0 */
/* A family's conversions as a list for all models of a type: what registering a fusion by a call adds there. */
#ifndef GRAFT_REGISTRY_FUSION_TRANSFORMS_H
#define GRAFT_REGISTRY_FUSION_TRANSFORMS_H

#include "graft/host/registry.h"
#include "registry/fused_modules.h"

struct graft_fusion_transforms {
    struct graft_weight_transform *items; /* [n] */
    size_t n;
    struct graft_candidate *collected; /* holds the conversions behind them */
    const char **patterns;             /* [n_patterns]: their source and target patterns */
    size_t n_patterns;
};

/* [load] The family's transforms for modules called `module_name` ("patch_embed"), with the sizes that the config gives
 * or, with `module`, those of that module. The caller gives them to graft_fusion_transforms_finish, also after an
 * error. */
int graft_fusion_transforms_make(const struct graft_known_fusion *known, const char *module_name,
                                 const struct graft_config *config, const struct graft_config *options,
                                 const struct graft_module_info *module, struct graft_fusion_transforms *made,
                                 struct graft_error *error);
void graft_fusion_transforms_finish(struct graft_fusion_transforms *made);

#endif
