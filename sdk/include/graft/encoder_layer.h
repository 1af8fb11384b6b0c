/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.encoder_layer/1: one layer of an encoder, residuals and norms included.
 *
 * Arguments that parents give: layer_idx.
 */
#ifndef GRAFT_ENCODER_LAYER_H
#define GRAFT_ENCODER_LAYER_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "kernels.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_ENCODER_LAYER "graft.encoder_layer/1"

struct graft_encoder_layer_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* whose tokens these are; without a cache */
    float *hidden_states;            /* [tokens, hidden], in and out */
    const float *cos;                /* [tokens, head_dim]; NULL, as sin, in models without rotary positions */
    const float *sin;                /* [tokens, head_dim] */
    const struct graft_mask *mask;   /* decided by the model */
};

struct graft_encoder_layer {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] hidden_states = layer(hidden_states). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_encoder_layer_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_encoder_layer_args, 48);
GRAFT_ASSERT_SIZE(struct graft_encoder_layer, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_encoder_layer_forward(const struct graft_module *module, const struct graft_call *call,
                                             const struct graft_encoder_layer_args *args, struct graft_error *error) {
    const struct graft_encoder_layer *vtable = (const struct graft_encoder_layer *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
