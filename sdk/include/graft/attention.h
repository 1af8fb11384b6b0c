/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.self_attention/1: attention of a sequence to itself, with its projections. It adds no residual and
 * applies no norm to its input (attention_block does; that is another interface).
 *
 * Arguments that parents give: layer_idx, hidden_size, num_attention_heads, num_key_value_heads, head_dim, and whether
 * the projections have biases: qkv_bias, o_proj_bias (0 or 1). A parent whose output projection is a module of its own
 * (BertSelfOutput beside BertSelfAttention) gives o_proj 0: then the output is that of the heads, one behind the other.
 *
 * Optional: scaling (a real number; 1 / sqrt(head_dim) without it) and softcap (0 without it), both as in kernels.h;
 * rotary_width, where less than head_dim: how many numbers of a head are rotated, the first ones; and rope_interleave
 * (1: neighbours are rotated together, GRAFT_ROPE_INTERLEAVED; 0 without it). A parent that gives one of them asks for
 * it in each call, too (graft_self_attention_features).
 *
 * With the argument kv_layer_idx attention shares keys and values. That of the layer with this number makes them, and
 * fills in shared_keys; that of a later layer has no projections for them, and attends to those in shared_keys, which
 * the cache keeps for the layer with that number alone.
 *
 * With the argument cross (1) it is attention to another text: keys and values are made from batch->source_states, once
 * for each sequence, and kept in the cache under layer_idx, which is behind those of all layers.
 */
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
    uint32_t required_features;      /* GRAFT_SELF_ATTENTION_... */
    const struct graft_batch *batch; /* whose tokens these are; with a cache it holds their past */
    const float *hidden_states;      /* [tokens, hidden] */
    /* [tokens, head_dim], or as wide as the part of a head that the model rotates; NULL, as sin, in models without
     * rotary positions. */
    const float *cos;
    const float *sin;                            /* as wide */
    const struct graft_mask *mask;               /* decided by the model for this layer */
    float *output;                               /* [tokens, hidden]; does not overlap hidden_states */
    const struct graft_shared_keys *shared_keys; /* with the argument kv_layer_idx; else NULL */
};

struct graft_self_attention {
    uint32_t struct_size;
    uint32_t features; /* GRAFT_SELF_ATTENTION_... */
    /* [forward] output = attention(hidden_states). With a cache in the batch, keys and values are kept there. Required.
     */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_self_attention_args, 64);
GRAFT_ASSERT_SIZE(struct graft_self_attention, 16);

/* [any] What calls of an attention with these arguments require. */
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

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
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
