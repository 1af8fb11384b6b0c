/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.patch_merger/1: merges squares of neighbouring patches, which are consecutive rows, into one vector
 * of the language model each. Arguments that parents pass: context_dim (width of a patch), hidden_size (width of the
 * result), spatial_merge_size (patches in each direction). Optional: joined_norm (1: the norm is applied to joined
 * patches, not to each patch). */
#ifndef GRAFT_PATCH_MERGER_H
#define GRAFT_PATCH_MERGER_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_PATCH_MERGER "graft.patch_merger/1"

struct graft_patch_merger_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t patches;      /* a multiple of spatial_merge_size^2 */
    float *hidden_states; /* [patches, context_dim]; not changed */
    float *output;        /* [patches / spatial_merge_size^2, hidden_size] */
};

struct graft_patch_merger {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output = merge(hidden_states). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_patch_merger_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_patch_merger_args, 32);
GRAFT_ASSERT_SIZE(struct graft_patch_merger, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_patch_merger_forward(const struct graft_module *module, const struct graft_call *call,
                                            const struct graft_patch_merger_args *args, struct graft_error *error) {
    const struct graft_patch_merger *vtable = (const struct graft_patch_merger *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
