/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.attention_block/1: attention of a sequence to itself with what stands around it in an encoder: the
 * output projection, the residual and the norm behind it (BertAttention; Devlin et al. 2018, post-norm). That is
 * another contract than graft.self_attention/1, which adds no residual and applies no norm.
 *
 * Arguments that parents give: layer_idx.
 */
#ifndef GRAFT_ATTENTION_BLOCK_H
#define GRAFT_ATTENTION_BLOCK_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "kernels.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_ATTENTION_BLOCK "graft.attention_block/1"

struct graft_attention_block_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* whose tokens these are; without a cache */
    const float *hidden_states;      /* [tokens, hidden] */
    const float *cos;                /* [tokens, head_dim]; NULL, as sin, in models without rotary positions */
    const float *sin;                /* [tokens, head_dim] */
    const struct graft_mask *mask;   /* decided by the model */
    float *output;                   /* [tokens, hidden]; does not overlap hidden_states */
};

struct graft_attention_block {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output = norm(hidden_states + project(attention(hidden_states))). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_attention_block_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_attention_block_args, 56);
GRAFT_ASSERT_SIZE(struct graft_attention_block, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_attention_block_forward(const struct graft_module *module, const struct graft_call *call,
                                               const struct graft_attention_block_args *args,
                                               struct graft_error *error) {
    const struct graft_attention_block *vtable = (const struct graft_attention_block *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
