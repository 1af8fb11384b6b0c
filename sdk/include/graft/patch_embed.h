/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.patch_embed/1: maps the pixels of each patch of an image to a vector. In some towers the module also
 * adds learned positions, and a vector of its own that passes through the blocks as one more patch.
 *
 * Arguments that parents pass: in_channels, temporal_patch_size, patch_size, embed_dim. */
#ifndef GRAFT_PATCH_EMBED_H
#define GRAFT_PATCH_EMBED_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_PATCH_EMBED "graft.patch_embed/1"

struct graft_patch_embed_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t patches;           /* number of rows of both arrays */
    const float *pixel_values; /* [patches, in_channels * temporal_patch_size * patch_size * patch_size], a patch's
                                  pixels in that order of axes */
    float *output;             /* [patches, embed_dim]; does not overlap pixel_values */
    /* With GRAFT_PATCH_EMBED_PLACES in required_features: the row of learned positions for each patch. */
    const int32_t *places; /* [patches] */
    /* With GRAFT_PATCH_EMBED_CLASS: the module's own vector. */
    float *class_output; /* [embed_dim] */
};

/* What args may require of a patch embedding. */
enum { GRAFT_PATCH_EMBED_PLACES = 1, GRAFT_PATCH_EMBED_CLASS = 2 };

struct graft_patch_embed {
    uint32_t struct_size;
    uint32_t features; /* GRAFT_PATCH_EMBED_... */
    /* [forward] output = embed(pixel_values), patch by patch. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_patch_embed_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_patch_embed_args, 48);
GRAFT_ASSERT_SIZE(struct graft_patch_embed, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_patch_embed_forward(const struct graft_module *module, const struct graft_call *call,
                                           const struct graft_patch_embed_args *args, struct graft_error *error) {
    const struct graft_patch_embed *vtable = (const struct graft_patch_embed *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
