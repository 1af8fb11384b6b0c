/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.masked_lm/1: an encoder with a head that predicts the token at each position (BertForMaskedLM). */
#ifndef GRAFT_MASKED_LM_H
#define GRAFT_MASKED_LM_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_MASKED_LM "graft.masked_lm/1"

struct graft_masked_lm_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* the sequences of the tokens; has no cache */
    const int32_t *input_ids;        /* [tokens] */
    const int32_t *token_type_ids;   /* [tokens] */
    int64_t n_rows;
    const int32_t *rows;      /* [n_rows]: the tokens whose logits are wanted, ascending */
    float *logits;            /* [n_rows, vocab_size] */
    float *last_hidden_state; /* [tokens, hidden]; NULL: not wanted */
};

struct graft_masked_lm {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] Runs the batch; each token sees all tokens of its sequence, unless config.json says otherwise.
     * Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_masked_lm_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_masked_lm_args, 64);
GRAFT_ASSERT_SIZE(struct graft_masked_lm, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_masked_lm_forward(const struct graft_module *module, const struct graft_call *call,
                                         const struct graft_masked_lm_args *args, struct graft_error *error) {
    const struct graft_masked_lm *vtable = (const struct graft_masked_lm *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
