/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.experts/1: the experts of a mixture, all of them as one module.
 *
 * Arguments that parents give: num_experts, hidden_size, intermediate_size (of one expert).
 */
#ifndef GRAFT_EXPERTS_H
#define GRAFT_EXPERTS_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_EXPERTS "graft.experts/1"

struct graft_experts_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;             /* rows of all arrays */
    int64_t k;                  /* config: num_experts_per_tok */
    const float *hidden_states; /* [tokens, hidden] */
    const int32_t *top_k_index; /* [tokens, k] */
    const float *top_k_weights; /* [tokens, k] */
    float *output;              /* [tokens, hidden]; overlaps nothing */
};

struct graft_experts {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output[t] = sum over j of top_k_weights[t, j] * expert(top_k_index[t, j])(hidden_states[t]), in f32,
     * the experts of a token in ascending order, so that two implementations agree to the bit. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_experts_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_experts_args, 56);
GRAFT_ASSERT_SIZE(struct graft_experts, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_experts_forward(const struct graft_module *module, const struct graft_call *call,
                                       const struct graft_experts_args *args, struct graft_error *error) {
    const struct graft_experts *vtable = (const struct graft_experts *)module->forward;
    int64_t mark = call->scratch_mark(call->scratch);
    int status = graft_module_check(module, args->required_features, vtable->features, error);
    if (status == GRAFT_OK) {
        status = vtable->forward(module->instance, call, args, error);
    }
    call->scratch_release(call->scratch, mark);
    return graft_module_status(module, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
