/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.router/1: chooses each token's experts and their weights. */
#ifndef GRAFT_ROUTER_H
#define GRAFT_ROUTER_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_ROUTER "graft.router/1"

struct graft_router_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;             /* number of rows of all arrays */
    int64_t experts;            /* config: num_experts */
    int64_t k;                  /* config: num_experts_per_tok */
    const float *hidden_states; /* [tokens, hidden] */
    float *logits;              /* [tokens, experts] */
    int32_t *top_k_index;       /* [tokens, k]: each in [0, experts); those of a token differ */
    float *top_k_weights;       /* [tokens, k] */
};

struct graft_router {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] Fills logits, top_k_index and top_k_weights. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_router_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_router_args, 64);
GRAFT_ASSERT_SIZE(struct graft_router, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_router_forward(const struct graft_module *module, const struct graft_call *call,
                                      const struct graft_router_args *args, struct graft_error *error) {
    const struct graft_router *vtable = (const struct graft_router *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
