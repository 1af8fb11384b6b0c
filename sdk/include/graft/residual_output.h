/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.residual_output/1: the end of a block of an encoder: a projection, the residual, the norm
 * (BertSelfOutput, BertOutput).
 *
 * Arguments that parents give: in_features. Not given, and so to be read from the config: hidden_size.
 */
#ifndef GRAFT_RESIDUAL_OUTPUT_H
#define GRAFT_RESIDUAL_OUTPUT_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_RESIDUAL_OUTPUT "graft.residual_output/1"

struct graft_residual_output_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;             /* rows of all arrays */
    const float *hidden_states; /* [tokens, in_features] */
    const float *residual;      /* [tokens, hidden]: what went into the block */
    float *output;              /* [tokens, hidden]; overlaps neither */
};

struct graft_residual_output {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output = norm(project(hidden_states) + residual). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_residual_output_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_residual_output_args, 40);
GRAFT_ASSERT_SIZE(struct graft_residual_output, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_residual_output_forward(const struct graft_module *module, const struct graft_call *call,
                                               const struct graft_residual_output_args *args,
                                               struct graft_error *error) {
    const struct graft_residual_output *vtable = (const struct graft_residual_output *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
