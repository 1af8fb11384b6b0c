/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.causal_lm/1: a decoder with its head, from ids to logits.
 *
 * Optional arguments, which a derived class may pass to its base (sink->base): the real numbers logit_scale (above 0),
 * by which logits are multiplied, and softcap (above 0), which then bounds them: softcap * tanh(logit / softcap); and
 * bidirectional, which is passed to the base model. */
#ifndef GRAFT_CAUSAL_LM_H
#define GRAFT_CAUSAL_LM_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "image.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_CAUSAL_LM "graft.causal_lm/1"

struct graft_causal_lm_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* the sequences of the tokens, and the cache of their past */
    const int32_t *input_ids;        /* [tokens] */
    int64_t n_rows;
    const int32_t *rows; /* [n_rows]: the tokens whose logits are wanted, ascending */
    float *logits;       /* [n_rows, vocab_size] */
    /* The images and videos of the batch, in the order of their tokens; none for models without a vision tower. */
    const struct graft_image *images; /* [n_images] */
    int32_t n_images;
    uint32_t image_stride;
};

struct graft_causal_lm {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] Runs the batch. If it has a cache, keys and values are appended to that. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_causal_lm_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_causal_lm_args, 64);
GRAFT_ASSERT_SIZE(struct graft_causal_lm, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_causal_lm_forward(const struct graft_module *module, const struct graft_call *call,
                                         const struct graft_causal_lm_args *args, struct graft_error *error) {
    const struct graft_causal_lm *vtable = (const struct graft_causal_lm *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
