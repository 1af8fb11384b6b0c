/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.base_model/1: a decoder or an encoder without its head, from ids to hidden states. Also a language
 * model with a vision tower, whose output replaces the embeddings of image and video tokens.
 *
 * Optional arguments, which a derived class may pass to its base (sink->base): windows (for each layer the number of
 * keys that a query sees, including its own; 0: all before it); scaling, softcap, rotary_width and rope_interleave of
 * every layer's attention (attention.h); typed_rotary (1: layers with a window have rotary angles of their own, chosen
 * by the rotary module's layer_type); bidirectional (1: a query also sees the keys after it, and a window of n covers n
 * keys on either side; 0: it does not; the default is given by `is_causal`). cos and sin are as wide as rotary_width.
 *
 * Arguments that parents may pass: add_pooling_layer (1: there is a pooler_output, if the model can have one; 0: there
 * is none; the default is 1 for a root, else 0), and cross (1: the layers also attend to an encoder's output,
 * batch->source_states). */
#ifndef GRAFT_BASE_MODEL_H
#define GRAFT_BASE_MODEL_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "image.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_BASE_MODEL "graft.base_model/1"

struct graft_base_model_args {
    uint32_t struct_size;
    uint32_t required_features;
    const struct graft_batch *batch; /* the sequences of the tokens, and the cache of their past */
    const int32_t *input_ids;        /* [tokens] */
    float *last_hidden_state;        /* [tokens, hidden], after the final norm */
    /* For a model with a vision tower: the images and videos of the batch, in the order of their tokens. */
    const struct graft_image *images; /* [n_images] */
    int32_t n_images;
    uint32_t image_stride;
    /* For a language model: vectors that replace the embeddings of some tokens. */
    int64_t n_embeddings;
    const int32_t *embedding_rows; /* [n_embeddings]: indices of those tokens, ascending */
    const float *embeddings;       /* [n_embeddings, hidden] */
    /* For an encoder. */
    const int32_t *token_type_ids; /* [tokens]: the segment of each token; NULL: all 0 */
    float *pooler_output;          /* [sequences, hidden]; NULL: not wanted, or there is no pooler */
    /* For a language model, with GRAFT_BASE_MODEL_DEEPSTACK in required_features: vectors that are added to the hidden
     * states of the tokens embedding_rows after each of the first n_deepstack layers (Meng et al. 2024, DeepStack). */
    const float *deepstack; /* [n_deepstack, n_embeddings, hidden] */
    int64_t n_deepstack;
    /* For a language model, with GRAFT_BASE_MODEL_BLOCKS in required_features: tokens of the same sequence and block
     * see each other in either direction, within the windows of layers; -1: the token is in no block. */
    const int32_t *blocks; /* [tokens] */
};

/* Features that args may require. */
enum { GRAFT_BASE_MODEL_DEEPSTACK = 1, GRAFT_BASE_MODEL_BLOCKS = 2 };

struct graft_base_model {
    uint32_t struct_size;
    uint32_t features; /* GRAFT_BASE_MODEL_... */
    /* [forward] Runs the batch. If it has a cache, keys and values are appended to that. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_base_model_args, 112);
GRAFT_ASSERT_SIZE(struct graft_base_model, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_base_model_forward(const struct graft_module *module, const struct graft_call *call,
                                          const struct graft_base_model_args *args, struct graft_error *error) {
    const struct graft_base_model *vtable = (const struct graft_base_model *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
