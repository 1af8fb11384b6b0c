/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.gated_norm/1: a normalisation with a gate, as used in mixers (mixer.h): norm(x * act(gate)) in Mamba
 * 2, norm(x) * act(gate) after the gated delta rule. The class determines the form and the activation. Arguments that
 * parents pass: hidden_size and eps (a real number). Optional: group_size, which divides hidden_size: how many numbers
 * of a row are normalised together; the default is all of them. */
#ifndef GRAFT_GATED_NORM_H
#define GRAFT_GATED_NORM_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_GATED_NORM "graft.gated_norm/1"

struct graft_gated_norm_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;             /* rows of all arrays: tokens, or heads of tokens */
    const float *hidden_states; /* [tokens, hidden] */
    float *gate;                /* [tokens, hidden]: the gate and the output; does not overlap hidden_states */
};

struct graft_gated_norm {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] gate = norm(hidden_states, gate). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_gated_norm_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_gated_norm_args, 32);
GRAFT_ASSERT_SIZE(struct graft_gated_norm, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_gated_norm_forward(const struct graft_module *module, const struct graft_call *call,
                                          const struct graft_gated_norm_args *args, struct graft_error *error) {
    const struct graft_gated_norm *vtable = (const struct graft_gated_norm *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
