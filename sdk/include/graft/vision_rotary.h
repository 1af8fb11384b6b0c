/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.vision_rotary/1: the angles of two-dimensional rotary position embeddings (Su et al. 2021, with rows
 * and columns as positions; Wang et al. 2024, Qwen2-VL, section 2.1) for the patches of an image. */
#ifndef GRAFT_VISION_ROTARY_H
#define GRAFT_VISION_ROTARY_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_VISION_ROTARY "graft.vision_rotary/1"

struct graft_vision_rotary_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t patches;        /* number of patches of one image or video */
    int64_t head_dim;       /* width of cos and sin; a multiple of 4 */
    const int32_t *rows;    /* [patches]: the row of each patch in the image, from 0 */
    const int32_t *columns; /* [patches] */
    /* [patches, head_dim]: each half of a head has the angles of the row, then those of the column. */
    float *cos;
    float *sin; /* [patches, head_dim]: the same */
};

struct graft_vision_rotary {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] Fills cos and sin. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_vision_rotary_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_vision_rotary_args, 56);
GRAFT_ASSERT_SIZE(struct graft_vision_rotary, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_vision_rotary_forward(const struct graft_module *module, const struct graft_call *call,
                                             const struct graft_vision_rotary_args *args, struct graft_error *error) {
    const struct graft_vision_rotary *vtable = (const struct graft_vision_rotary *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
