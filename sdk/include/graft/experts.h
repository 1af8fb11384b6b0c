/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.experts/1: all experts of a mixture as one module.
 *
 * Arguments that parents pass: num_experts, hidden_size, intermediate_size (of one expert).
 *
 * Optional arguments: hidden_act (name of the activation in transformers' ACT2FN; the default is the config's), bias
 * (1: both products have one; default 0), and swiglu_alpha and swiglu_limit (real numbers, both or none: the gating of
 * swiglu.h replaces act_fn(gate) * up). A parent that passes them requires them in each call as well
 * (graft_experts_features). */
#ifndef GRAFT_EXPERTS_H
#define GRAFT_EXPERTS_H

#include "abi.h"
#include "args.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_EXPERTS "graft.experts/1"

/* Features, of classes and of experts implementations. */
enum {
    GRAFT_EXPERTS_BIASES = 1, /* products with biases */
    GRAFT_EXPERTS_GATING = 2, /* a gating other than act_fn's */
    GRAFT_EXPERTS_CODED = 4   /* only of implementations: weights that are codes (codec.h), which kernels multiply */
};

struct graft_experts_args {
    uint32_t struct_size;
    uint32_t required_features; /* GRAFT_EXPERTS_BIASES, ... */
    int64_t tokens;             /* rows of all arrays */
    int64_t k;                  /* config: num_experts_per_tok */
    const float *hidden_states; /* [tokens, hidden] */
    const int32_t *top_k_index; /* [tokens, k] */
    const float *top_k_weights; /* [tokens, k] */
    float *output;              /* [tokens, hidden]; overlaps nothing */
};

struct graft_experts {
    uint32_t struct_size;
    uint32_t features; /* GRAFT_EXPERTS_BIASES, ... */
    /* [forward] output[t] = sum over j of top_k_weights[t, j] * expert(top_k_index[t, j])(hidden_states[t]), in f32 and
     * with each token's experts in ascending order, so that two implementations give the same bits. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_experts_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_experts_args, 56);
GRAFT_ASSERT_SIZE(struct graft_experts, 16);

/* [any] The features that calls of experts with these arguments require. */
GRAFT_INLINE uint32_t graft_experts_features(const struct graft_args *args) {
    return (graft_args_int(args, "bias", 0) != 0 ? (uint32_t)GRAFT_EXPERTS_BIASES : 0) |
           (graft_args_find(args, "swiglu_limit", GRAFT_ARG_REAL) != NULL ? (uint32_t)GRAFT_EXPERTS_GATING : 0);
}

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_experts_forward(const struct graft_module *module, const struct graft_call *call,
                                       const struct graft_experts_args *args, struct graft_error *error) {
    const struct graft_experts *vtable = (const struct graft_experts *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
