/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.rotary/1: the angles of rotary position embeddings (Su et al. 2021) for the tokens of a batch.
 */
#ifndef GRAFT_ROTARY_H
#define GRAFT_ROTARY_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_ROTARY "graft.rotary/1"

/* Features. */
enum {
    GRAFT_ROTARY_LAYER_TYPES = 1 /* layer_type */
};

/* Types of layers that may have angles of their own, as in `layer_types`. */
enum { GRAFT_LAYER_FULL_ATTENTION = 0, GRAFT_LAYER_SLIDING_ATTENTION = 1 };

struct graft_rotary_args {
    uint32_t struct_size;
    uint32_t required_features;      /* GRAFT_ROTARY_... */
    const struct graft_batch *batch; /* the positions */
    int64_t head_dim;                /* width of cos and sin; even */
    /* [tokens, head_dim]: both halves of a row are equal, and multiplied by the attention factor if there is one. */
    float *cos;
    float *sin; /* [tokens, head_dim]: the same */
    /* With GRAFT_ROTARY_LAYER_TYPES: the GRAFT_LAYER_... whose angles are wanted. In families in which every layer has
     * angles of its own, the number of a set, from 0 in the order of layers. */
    int32_t layer_type;
    uint32_t reserved;
};

struct graft_rotary {
    uint32_t struct_size;
    uint32_t features; /* GRAFT_ROTARY_... */
    /* [forward] Fills in cos and sin for the positions of the batch: `rotary_positions` if the family has three
     * positions and the batch provides them, else `positions`. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_rotary_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_rotary_args, 48);
GRAFT_ASSERT_SIZE(struct graft_rotary, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_rotary_forward(const struct graft_module *module, const struct graft_call *call,
                                      const struct graft_rotary_args *args, struct graft_error *error) {
    const struct graft_rotary *vtable = (const struct graft_rotary *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
