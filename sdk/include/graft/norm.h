/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.norm/1: a normalisation over the last dimension (RMSNorm, LayerNorm).
 *
 * Arguments that parents pass: hidden_size and eps (a real number). The default of eps is 1e-5 for a LayerNorm, and the
 * config's rms_norm_eps for an RMSNorm.
 *
 * Optional arguments: bias (0: a LayerNorm has none; default 1). If no parent passes it, a class derived from LayerNorm
 * passes its base a bias of 0; a model of parts has norms_without_bias (parts.h). weight (0: the norm has none; default
 * 1), for families described by data. heads: the weight is [heads, hidden_size], and row i of hidden_states is
 * multiplied by row i % heads of it; 0, the default: the weight is [hidden_size]. offset (a real number, default 0),
 * which is added to the weight: a class that derives from an RMSNorm of the host passes it to its base, so that neither
 * parents nor replacements need to know it. */
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
    int64_t tokens;       /* number of rows of all arrays */
    float *hidden_states; /* [tokens, hidden]; changed only if there is a residual */
    const float
        *residual; /* [tokens, hidden], which is added to hidden_states, in place, before the norm; NULL: none */
    float *output; /* [tokens, hidden]; overlaps neither of them */
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

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
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
