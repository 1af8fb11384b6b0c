/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.input_embeddings/1: what goes into the first layer of an encoder: for each token the sum of the
 * embeddings of its id, its position and its type, normed (BertEmbeddings; Devlin et al. 2018, figure 2).
 *
 * Optional argument: padding_idx, a row of the position embeddings (RobertaEmbeddings). Positions begin behind it;
 * tokens of that id are not counted and have that row.
 */
#ifndef GRAFT_INPUT_EMBEDDINGS_H
#define GRAFT_INPUT_EMBEDDINGS_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_INPUT_EMBEDDINGS "graft.input_embeddings/1"

struct graft_input_embeddings_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* its positions are below max_position_embeddings: the host checks */
    const int32_t *input_ids;        /* [tokens], each in [0, vocab_size): the host checks */
    const int32_t *token_type_ids;   /* [tokens], each in [0, type_vocab_size): the host checks */
    float *output;                   /* [tokens, hidden] */
};

struct graft_input_embeddings {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] output = embeddings(input_ids, positions, token_type_ids). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_input_embeddings_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_input_embeddings_args, 40);
GRAFT_ASSERT_SIZE(struct graft_input_embeddings, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_input_embeddings_forward(const struct graft_module *module, const struct graft_call *call,
                                                const struct graft_input_embeddings_args *args,
                                                struct graft_error *error) {
    const struct graft_input_embeddings *vtable = (const struct graft_input_embeddings *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
