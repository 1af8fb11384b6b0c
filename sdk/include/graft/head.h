/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.head/1: hidden states into logits, token by token (BertOnlyMLMHead, BertLMPredictionHead).
 *
 * Arguments that parents give: out_features, the number of logits. Not given, and so to be read from the config:
 * hidden_size.
 */
#ifndef GRAFT_HEAD_H
#define GRAFT_HEAD_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_HEAD "graft.head/1"

struct graft_head_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;             /* rows of both arrays */
    const float *hidden_states; /* [tokens, hidden] */
    float *logits;              /* [tokens, out_features] */
};

struct graft_head {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] logits = head(hidden_states). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_head_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_head_args, 32);
GRAFT_ASSERT_SIZE(struct graft_head, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_head_forward(const struct graft_module *module, const struct graft_call *call,
                                    const struct graft_head_args *args, struct graft_error *error) {
    const struct graft_head *vtable = (const struct graft_head *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
