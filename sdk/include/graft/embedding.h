/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.embedding/1: looks up a row of a table for each id (torch.nn.Embedding). Arguments that parents pass:
 * num_embeddings, embedding_dim. */
#ifndef GRAFT_EMBEDDING_H
#define GRAFT_EMBEDDING_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_EMBEDDING "graft.embedding/1"

struct graft_embedding_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens;     /* rows of the output */
    const int32_t *ids; /* [tokens], each in [0, num_embeddings), which the host has checked */
    float *output;      /* [tokens, embedding_dim] */
};

struct graft_embedding {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output[t] = table[ids[t]]. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_embedding_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_embedding_args, 32);
GRAFT_ASSERT_SIZE(struct graft_embedding, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_embedding_forward(const struct graft_module *module, const struct graft_call *call,
                                         const struct graft_embedding_args *args, struct graft_error *error) {
    const struct graft_embedding *vtable = (const struct graft_embedding *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
