/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.norm/1: a normalisation over the last dimension (RMSNorm, LayerNorm).
 *
 * Arguments that parents give: hidden_size and eps (a real number). Without eps a LayerNorm takes 1e-5, an RMSNorm the
 * config's rms_norm_eps. Optional: bias (0: a LayerNorm has none; 1 without it). Where a parent gives none, a class
 * derived from LayerNorm gives its base a bias of 0; a model of parts has norms_without_bias (parts.h). Likewise weight
 * (0: a norm of a family described by data has none), and heads: the weight is [heads, hidden_size], and every
 * heads-th row of hidden_states has the same one; 0, as without it: [hidden_size], for all rows.
 *
 * Optional, for a class that derives from an RMSNorm of the host: offset (a real number; 0 without it), which is added
 * to the weight. It gives that to its base itself, so parents and what replaces the class need not know.
 */
#ifndef GRAFT_NORM_H
#define GRAFT_NORM_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_NORM "graft.norm/1"

struct graft_norm_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;        /* rows of all arrays */
    float *hidden_states;  /* [tokens, hidden]; written only when there is a residual */
    const float *residual; /* [tokens, hidden], or NULL: it is added to hidden_states, in place, before the norm */
    float *output;         /* [tokens, hidden]; overlaps neither */
};

struct graft_norm {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] hidden_states += residual if there is one, then output = norm(hidden_states). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_norm_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_norm_args, 40);
GRAFT_ASSERT_SIZE(struct graft_norm, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_norm_forward(const struct graft_module *module, const struct graft_call *call,
                                    const struct graft_norm_args *args, struct graft_error *error) {
    const struct graft_norm *vtable = (const struct graft_norm *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
