/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.base_model/1: a decoder or an encoder without its head. Ids in, hidden states out; also a language
 * model with a vision tower beside it, which puts what it sees in the place of image and video tokens.
 *
 * Optional arguments, which a derived class may give to its base (sink->base): windows, for each layer how many keys a
 * query sees, its own included, or 0 for all before it; scaling, softcap, rotary_width and rope_interleave of every
 * layer's attention (attention.h); typed_rotary (1: layers with a window have angles of their own, as the rotary
 * module's layer_type says); bidirectional (1: a query sees the keys behind it, too, and a window of n is n keys to
 * either side; 0; without it what `is_causal` says). cos and sin are as wide as rotary_width.
 *
 * Others that parents may give: add_pooling_layer (1: there is a pooler_output, if the model can have one; 0; without
 * it 1 of a root, else 0), and cross (1: its layers attend to what an encoder makes of another text, too, which is in
 * batch->source_states).
 */
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
    const struct graft_batch *batch; /* how the tokens below make up sequences, and the cache of their past */
    const int32_t *input_ids;        /* [tokens] */
    float *last_hidden_state;        /* [tokens, hidden], after the final norm */
    /* To a model with a vision tower: the images and videos of the batch, in the order of their tokens. */
    const struct graft_image *images; /* [n_images] */
    int32_t n_images;
    uint32_t image_stride;
    /* To a language model: vectors that take the place of some tokens' embeddings. */
    int64_t n_embeddings;
    const int32_t *embedding_rows; /* [n_embeddings]: the tokens, ascending */
    const float *embeddings;       /* [n_embeddings, hidden] */
    /* To an encoder. */
    const int32_t *token_type_ids; /* [tokens]: the segments of the tokens, or NULL: all 0 */
    float *pooler_output;          /* [sequences, hidden], or NULL where it is not wanted or there is no pooler */
    /* To a language model, with GRAFT_BASE_MODEL_DEEPSTACK in required_features: what is added to the hidden states of
     * embedding_rows behind each of its first n_deepstack layers (Meng et al. 2024, DeepStack). */
    const float *deepstack; /* [n_deepstack, n_embeddings, hidden] */
    int64_t n_deepstack;
};

/* What args may require of a model. */
enum { GRAFT_BASE_MODEL_DEEPSTACK = 1 };

struct graft_base_model {
    uint32_t struct_size;
    uint32_t features; /* GRAFT_BASE_MODEL_... */
    /* [forward] Runs the batch; with a cache, keys and values are kept in it. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_base_model_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_base_model_args, 104);
GRAFT_ASSERT_SIZE(struct graft_base_model, 16);

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
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
