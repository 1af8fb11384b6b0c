/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.transform/1: features of each token into others, of another width perhaps (BertIntermediate,
 * BertPredictionHeadTransform).
 *
 * Arguments that parents give: in_features, out_features.
 */
#ifndef GRAFT_TRANSFORM_H
#define GRAFT_TRANSFORM_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_TRANSFORM "graft.transform/1"

struct graft_transform_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;             /* rows of both arrays */
    const float *hidden_states; /* [tokens, in_features] */
    float *output;              /* [tokens, out_features]; does not overlap hidden_states */
};

struct graft_transform {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output = transform(hidden_states), token by token. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_transform_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_transform_args, 32);
GRAFT_ASSERT_SIZE(struct graft_transform, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_transform_forward(const struct graft_module *module, const struct graft_call *call,
                                         const struct graft_transform_args *args, struct graft_error *error) {
    const struct graft_transform *vtable = (const struct graft_transform *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
