/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.encoder_model/1: an encoder without a head: ids in, hidden states out (BertModel).
 *
 * Arguments that parents give: add_pooling_layer (0 or 1; 1 without it). Optional: max_positions, where a sequence can
 * have fewer tokens than config.json's max_position_embeddings.
 */
#ifndef GRAFT_ENCODER_MODEL_H
#define GRAFT_ENCODER_MODEL_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_ENCODER_MODEL "graft.encoder_model/1"

struct graft_encoder_model_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* how the tokens below make up sequences; without a cache */
    const int32_t *input_ids;        /* [tokens] */
    const int32_t *token_type_ids;   /* [tokens] */
    float *last_hidden_state;        /* [tokens, hidden] */
    float *pooler_output;            /* [sequences, hidden], or NULL where it is not wanted; a model that was described
                                        without a pooling layer is given NULL */
};

struct graft_encoder_model {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] Runs the batch; each token sees all tokens of its sequence, unless config.json says otherwise.
     * Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_encoder_model_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_encoder_model_args, 48);
GRAFT_ASSERT_SIZE(struct graft_encoder_model, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_encoder_model_forward(const struct graft_module *module, const struct graft_call *call,
                                             const struct graft_encoder_model_args *args, struct graft_error *error) {
    const struct graft_encoder_model *vtable = (const struct graft_encoder_model *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
