/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.vision_tower/1: maps an image or a video to vectors that replace token embeddings of a language
 * model. Arguments that parents pass: hidden_size (of what the tower gives), spatial_merge_size (1 if a separate
 * projector merges), patch_square (patches, in each direction, of the squares in which the image lists its patches). */
#ifndef GRAFT_VISION_TOWER_H
#define GRAFT_VISION_TOWER_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "image.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_VISION_TOWER "graft.vision_tower/1"

struct graft_vision_tower_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_image *image; /* one image or video */
    /* [merged, hidden of the language model], where `merged` is t * h * w of the image's grid / spatial_merge_size^2.
     */
    float *output;
    /* With GRAFT_VISION_TOWER_DEEPSTACK in required_features: outputs of earlier blocks for the language model's first
     * layers, [merged, hidden] for each block, in order. */
    float *deepstack;
    int64_t deepstack_stride; /* floats from one block's outputs to the next's */
};

/* Features that args may require. */
enum { GRAFT_VISION_TOWER_DEEPSTACK = 1 };

struct graft_vision_tower {
    uint32_t struct_size;
    uint32_t features; /* GRAFT_VISION_TOWER_... */
    /* [forward] Runs one image or video, whose grid the caller has checked to divide into merged patches. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_vision_tower_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_vision_tower_args, 40);
GRAFT_ASSERT_SIZE(struct graft_vision_tower, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_vision_tower_forward(const struct graft_module *module, const struct graft_call *call,
                                            const struct graft_vision_tower_args *args, struct graft_error *error) {
    const struct graft_vision_tower *vtable = (const struct graft_vision_tower *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
