/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.vision_block/1: one layer of a vision tower, including residuals. Arguments that parents pass:
 * layer_idx, hidden_size. */
#ifndef GRAFT_VISION_BLOCK_H
#define GRAFT_VISION_BLOCK_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_VISION_BLOCK "graft.vision_block/1"

struct graft_vision_block_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* each sequence is a frame of an image; has no cache */
    float *hidden_states;            /* [patches, hidden]: input and output */
    const float *cos;                /* [patches, head_dim] */
    const float *sin;                /* [patches, head_dim] */
};

struct graft_vision_block {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] hidden_states = block(hidden_states). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_vision_block_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_vision_block_args, 40);
GRAFT_ASSERT_SIZE(struct graft_vision_block, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_vision_block_forward(const struct graft_module *module, const struct graft_call *call,
                                            const struct graft_vision_block_args *args, struct graft_error *error) {
    const struct graft_vision_block *vtable = (const struct graft_vision_block *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
