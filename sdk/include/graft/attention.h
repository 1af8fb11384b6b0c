/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.self_attention/1: attention of a sequence to itself, including the projections. It adds no residual
 * and does not normalise its input (the interface of attention_block does).
 *
 * Arguments that parents pass: layer_idx, hidden_size, num_attention_heads, num_key_value_heads, head_dim, and whether
 * the projections have biases: qkv_bias, o_proj_bias (0 or 1). A parent whose output projection is a separate module
 * (BertSelfOutput next to BertSelfAttention) passes o_proj 0: the output is then that of the heads, concatenated.
 *
 * Optional arguments: scaling (a real number; the default is 1 / sqrt(head_dim)) and softcap (default 0), both as in
 * kernels.h; rotary_width (how many numbers of each head are rotated, from the first on; the default is head_dim); and
 * rope_interleave (1: adjacent numbers are rotated together, GRAFT_ROPE_INTERLEAVED; default 0). A parent that passes
 * one of them requires it in each call as well (graft_self_attention_features).
 *
 * With the argument kv_layer_idx, layers share keys and values: the attention of the layer with this number computes
 * them and fills in shared_keys; that of a later layer has no projections for them and uses those in shared_keys, which
 * the cache keeps only for the layer with that number.
 *
 * With the argument cross (1) it is cross attention: keys and values are computed from batch->source_states, once for
 * each sequence, and kept in the cache under layer_idx, which is greater than those of all layers. */
#ifndef GRAFT_SELF_ATTENTION_H
#define GRAFT_SELF_ATTENTION_H

#include "abi.h"
#include "args.h"
#include "batch.h"
#include "call.h"
#include "error.h"
#include "kernels.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_SELF_ATTENTION "graft.self_attention/1"

/* Features. */
enum {
    GRAFT_SELF_ATTENTION_SCORES = 1,          /* the arguments scaling and softcap */
    GRAFT_SELF_ATTENTION_ROTARY_WIDTH = 2,    /* the argument rotary_width */
    GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE = 4, /* the argument rope_interleave */
    GRAFT_SELF_ATTENTION_CROSS = 8,           /* the argument cross */
    GRAFT_SELF_ATTENTION_SHARED_KEYS = 16     /* the argument kv_layer_idx */
};

struct graft_self_attention_args {
    uint32_t struct_size;
    uint32_t required_features; /* GRAFT_SELF_ATTENTION_... */
    const struct graft_batch
        *batch; /* the sequences of the tokens; if it has a cache, that holds their past keys and values */
    const float *hidden_states; /* [tokens, hidden] */
    /* [tokens, head_dim], or [tokens, rotary_width] if the model rotates only a part of each head; NULL, like sin, in
     * models without rotary positions. */
    const float *cos;
    const float *sin;                            /* the same shape */
    const struct graft_mask *mask;               /* chosen by the model for this layer */
    float *output;                               /* [tokens, hidden]; does not overlap hidden_states */
    const struct graft_shared_keys *shared_keys; /* with the argument kv_layer_idx; else NULL */
};

struct graft_self_attention {
    uint32_t struct_size;
    uint32_t features; /* GRAFT_SELF_ATTENTION_... */
    /* [forward] output = attention(hidden_states). If the batch has a cache, keys and values are appended to it.
     * Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_self_attention_args, 64);
GRAFT_ASSERT_SIZE(struct graft_self_attention, 16);

/* [any] The features that calls of an attention with these arguments require. */
GRAFT_INLINE uint32_t graft_self_attention_features(const struct graft_args *args) {
    uint32_t features = 0;
    if (graft_args_find(args, "scaling", GRAFT_ARG_REAL) != NULL ||
        graft_args_find(args, "softcap", GRAFT_ARG_REAL) != NULL) {
        features |= GRAFT_SELF_ATTENTION_SCORES;
    }
    if (graft_args_find(args, "rotary_width", GRAFT_ARG_INT) != NULL) {
        features |= GRAFT_SELF_ATTENTION_ROTARY_WIDTH;
    }
    if (graft_args_find(args, "rope_interleave", GRAFT_ARG_INT) != NULL) {
        features |= GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE;
    }
    if (graft_args_int(args, "cross", 0) != 0) {
        features |= GRAFT_SELF_ATTENTION_CROSS;
    }
    if (graft_args_find(args, "kv_layer_idx", GRAFT_ARG_INT) != NULL) {
        features |= GRAFT_SELF_ATTENTION_SHARED_KEYS;
    }
    return features;
}

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_self_attention_forward(const struct graft_module *module, const struct graft_call *call,
                                              const struct graft_self_attention_args *args, struct graft_error *error) {
    const struct graft_self_attention *vtable = (const struct graft_self_attention *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif
