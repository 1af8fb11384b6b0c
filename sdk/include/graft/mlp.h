/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.mlp/1: hidden -> hidden, token by token: a dense MLP, or a mixture of experts in its place.
 *
 * Arguments that parents pass: hidden_size, intermediate_size, mlp_bias (0 or 1: whether the projections have biases),
 * hidden_act (a string: the activation's name in transformers' ACT2FN; the default is the config's), and, if it is part
 * of a layer, layer_idx. A mixture of experts gets the arguments that a dense MLP would get in its place. */
#ifndef GRAFT_MLP_H
#define GRAFT_MLP_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_MLP "graft.mlp/1"

struct graft_mlp_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;             /* number of rows of both arrays */
    const float *hidden_states; /* [tokens, hidden] */
    float *output;              /* [tokens, hidden]; does not overlap hidden_states */
};

struct graft_mlp {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output = mlp(hidden_states). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_mlp_args, 32);
GRAFT_ASSERT_SIZE(struct graft_mlp, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_mlp_forward(const struct graft_module *module, const struct graft_call *call,
                                   const struct graft_mlp_args *args, struct graft_error *error) {
    const struct graft_mlp *vtable = (const struct graft_mlp *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
