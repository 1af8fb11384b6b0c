/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.decoder_layer/1: one layer of a decoder, including residuals.
 *
 * Arguments that parents pass: layer_idx, hidden_size, and everything that the layer passes on to its attention, MLP
 * and norms, if it has them (attention.h, mlp.h, norm.h; graft_describe_given).
 *
 * Optional arguments: cross_layer_idx, if the layer also attends to an encoder's output: the layer_idx of that
 * attention. kv_layer_idx, if its attention shares keys and values with other layers (attention.h). mixer and
 * mixer_class, which a class that derives from a layer of the host passes to its base: the name of a child of
 * graft.mixer/1, and that of its class, which replaces self_attn. In the same way attention_norm,
 * attention_output_norm, mlp_norm and mlp_output_norm: the names of the norms of what attention sees, of what it gives
 * before that is added, and the same of the MLP; "" is none. */
#ifndef GRAFT_DECODER_LAYER_H
#define GRAFT_DECODER_LAYER_H

#include "abi.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "kernels.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_DECODER_LAYER "graft.decoder_layer/1"

/* Features. */
enum {
    GRAFT_DECODER_LAYER_INPUT = 1,      /* layer_input is not NULL */
    GRAFT_DECODER_LAYER_STREAMS = 2,    /* hidden_states are several streams */
    GRAFT_DECODER_LAYER_SHARED_KEYS = 4 /* shared_keys is not NULL: the layer hands it on to its attention */
};

struct graft_decoder_layer_args {
    uint32_t struct_size;
    uint32_t required_features;      /* GRAFT_DECODER_LAYER_... */
    const struct graft_batch *batch; /* the sequences of the tokens, and the cache of their past */
    float *hidden_states;            /* [tokens, hidden], or [streams, tokens, hidden]: input and output */
    /* [tokens, head_dim], or [tokens, rotary_width] if the model rotates only a part of each head; NULL, like sin, in
     * models without rotary positions. */
    const float *cos;
    const float *sin;              /* as wide */
    const struct graft_mask *mask; /* for this layer's attention; NULL in models without attention */
    /* [tokens, as many as the family says]: what the layer gets of each token besides; NULL: nothing. */
    const float *layer_input;
    int64_t layer_input_stride;                  /* floats from token to token */
    const struct graft_shared_keys *shared_keys; /* for this layer's attention; NULL: it shares none */
};

struct graft_decoder_layer {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] hidden_states = layer(hidden_states). Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_decoder_layer_args, 72);
GRAFT_ASSERT_SIZE(struct graft_decoder_layer, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_decoder_layer_forward(const struct graft_module *module, const struct graft_call *call,
                                             const struct graft_decoder_layer_args *args, struct graft_error *error) {
    const struct graft_decoder_layer *vtable = (const struct graft_decoder_layer *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
