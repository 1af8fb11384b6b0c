/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load patch: classes, filters and conversions for a single load, on top of the patch mapping (graft/host/registry.h)
 * and without touching it. Two models opened with different load patches can exist side by side, in any threads.
 * docs/patch.md describes the same as a file.
 */
#ifndef GRAFT_HOST_PATCH_H
#define GRAFT_HOST_PATCH_H

#include "graft/host/conversions.h"
#include "graft/host/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed until graft_model_open returns, except classes and custom operations, which must stay valid as long as the
 * model. */
struct graft_load_patch {
    uint32_t struct_size;
    uint32_t reserved;
    /* [n_classes] These go before the entries of the patch mapping, whether from calls or from plugins. */
    const struct graft_patch *classes;
    size_t n_classes;
    /* [n_without] Regular expressions, searched in sources and targets: a transform of a registered list is left out if
     * one of them matches, a class's conversion if the full name of one of them does
     * ("model.layers.0.mlp.experts.gate_up_proj"). */
    const char *const *without;
    size_t n_without;
    /* [n_conversions] These go in front of the model's registered list. */
    const struct graft_weight_transform *conversions;
    size_t n_conversions;
};

#define GRAFT_LOAD_PATCH_SIZE_1_0 GRAFT_END_OF(struct graft_load_patch, n_conversions)

#ifdef __cplusplus
}
#endif

#endif
