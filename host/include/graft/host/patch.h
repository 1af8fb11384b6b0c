/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patching one load: classes, filters and conversions for a single model, on top of what is registered and without
 * touching it. Two models opened with different patches live side by side, in any threads. As a file: docs/patch.md.
 */
#ifndef GRAFT_HOST_PATCH_H
#define GRAFT_HOST_PATCH_H

#include "graft/host/conversions.h"
#include "graft/host/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed until graft_model_open returns, but for classes and custom operations, which stay valid as long as the
 * model. */
struct graft_load_patch {
    uint32_t struct_size;
    uint32_t reserved;
    /* [n_classes] Goes before what library calls registered, and before what plugins bring. */
    const struct graft_patch *classes;
    size_t n_classes;
    /* [n_without] Regular expressions, searched in targets: a transform of a registered list is left out when its
     * target is hit, a class's conversion when the full name of one of its targets is
     * ("model.layers.0.mlp.experts.gate_up_proj"). */
    const char *const *without;
    size_t n_without;
    /* [n_conversions] Put in front of the model's registered list. */
    const struct graft_weight_transform *conversions;
    size_t n_conversions;
};

#ifdef __cplusplus
}
#endif

#endif
