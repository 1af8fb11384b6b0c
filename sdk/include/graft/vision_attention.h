/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.vision_attention/1: attention of the patches of a frame to each other, including the projections,
 * without mask and cache. It adds no residual and does not normalise its input. Arguments that parents pass:
 * hidden_size, num_attention_heads. */
#ifndef GRAFT_VISION_ATTENTION_H
#define GRAFT_VISION_ATTENTION_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_VISION_ATTENTION "graft.vision_attention/1"

struct graft_vision_attention_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* each sequence is a frame of an image; has no cache */
    const float *hidden_states;      /* [patches, hidden] */
    const float *cos;                /* [patches, head_dim] */
    const float *sin;                /* [patches, head_dim] */
    float *output;                   /* [patches, hidden]; does not overlap hidden_states */
};

struct graft_vision_attention {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output = attention(hidden_states). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_vision_attention_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_vision_attention_args, 48);
GRAFT_ASSERT_SIZE(struct graft_vision_attention, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_vision_attention_forward(const struct graft_module *module, const struct graft_call *call,
                                                const struct graft_vision_attention_args *args,
                                                struct graft_error *error) {
    const struct graft_vision_attention *vtable = (const struct graft_vision_attention *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
