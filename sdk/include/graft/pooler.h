/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.pooler/1: the hidden states of each sequence into one vector (BertPooler).
 */
#ifndef GRAFT_POOLER_H
#define GRAFT_POOLER_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_POOLER "graft.pooler/1"

struct graft_pooler_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* where each sequence begins and ends */
    const float *hidden_states;      /* [tokens, hidden] */
    float *output;                   /* [sequences, hidden] */
};

struct graft_pooler {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output[s] = pool(hidden_states of sequence s). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_pooler_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_pooler_args, 32);
GRAFT_ASSERT_SIZE(struct graft_pooler, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_pooler_forward(const struct graft_module *module, const struct graft_call *call,
                                      const struct graft_pooler_args *args, struct graft_error *error) {
    const struct graft_pooler *vtable = (const struct graft_pooler *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
