/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vocabulary of decoders: what a family file can say of one, by number. choices.c has their names, bounds and
 * meanings; docs/family.md and family.schema.json are made of that table.
 */
#ifndef GRAFT_ARCH_DECODER_CHOICES_H
#define GRAFT_ARCH_DECODER_CHOICES_H

#include "arch/data/description.h"

/* Far above every published model, and low enough that products of four sizes stay within 64 bits. */
enum { GRAFT_MAX_SIZE = 1 << 20, GRAFT_MAX_LAYERS = 4096, GRAFT_MAX_EXPERTS = 4096 };

enum {
    D_CLASS_CAUSAL_LM,
    D_CLASS_SEQUENCES,
    D_CLASS_TOKENS,
    D_CLASS_ANSWERS,
    D_CLASS_MODEL,
    D_CLASS_BASE_MODEL, /* what stands below the head; D_CLASS_MODEL unless a family puts another model around it */
    D_CLASS_LAYER,
    D_CLASS_ATTENTION,
    D_CLASS_MLP,
    D_CLASS_NORM,
    D_CLASS_HEAD_NORM,
    D_CLASS_ROTARY,
    D_CLASS_EMBEDDING,
    D_CLASS_MOE,
    D_CLASS_ROUTER,
    D_CLASS_EXPERTS,
    D_CLASS_MIXER,

    D_VOCAB_SIZE,
    D_HIDDEN_SIZE,
    D_LAYERS,
    D_CAUSAL,

    D_MODEL_NAME,
    D_MODEL_ANSWERS,
    D_MODEL_LAYERS,
    D_MODEL_NORM,
    D_MODEL_ROTARY,

    D_HEAD_NAME,
    D_HEAD_TIED,
    D_HEAD_TIED_TO,
    D_HEAD_BIAS,
    D_HEAD_SCALE,
    D_HEAD_SOFTCAP,

    D_EMBEDDING_NAME,
    D_EMBEDDING_SIZE,
    D_EMBEDDING_PROJECT_IN,
    D_EMBEDDING_PROJECT_OUT,
    D_EMBEDDING_SCALE,
    D_EMBEDDING_ROUNDED,
    D_EMBEDDING_NORM,

    D_POSITION_NAME,
    D_POSITION_ROWS,
    D_POSITION_OFFSET,

    D_LAYER_TYPE,
    D_LAYER_TYPES,
    D_LAYER_ATTENTION,
    D_LAYER_MIXER,
    D_LAYER_MIXED,
    D_LAYER_MLP,
    D_LAYER_EXPERTS,
    D_LAYER_ATTENTION_NORM,
    D_LAYER_ATTENTION_OUTPUT_NORM,
    D_LAYER_MLP_NORM,
    D_LAYER_MLP_OUTPUT_NORM,
    D_LAYER_PARALLEL,
    D_LAYER_SHARED_NORM,
    D_LAYER_NORM_AFTER_ADD,
    D_LAYER_RESIDUAL_SCALE,

    D_NORM_KIND,
    D_NORM_EPS,
    D_NORM_OFFSET,
    D_NORM_WEIGHT,
    D_NORM_BIAS,

    D_HEADS,
    D_KV_HEADS,
    D_HEAD_DIM,
    D_QKV_BIAS,
    D_K_BIAS,
    D_O_BIAS,
    D_QUERY,
    D_KEY,
    D_VALUE,
    D_QKV,
    D_QKV_LAYOUT,
    D_OUTPUT,
    D_ATTENTION_SCALE,
    D_ATTENTION_SOFTCAP,
    D_WINDOW,
    D_HEAD_NORM,
    D_QUERY_NORM,
    D_KEY_NORM,
    D_HEAD_NORM_AFTER_ROTARY,
    D_CLIP,
    D_SINKS,
    D_GATE,

    D_ROTARY_USE,
    D_ROTARY_DIM,
    D_ROTARY_THETA,
    D_ROTARY_PARTIAL,
    D_ROTARY_WHOLE,
    D_ROTARY_INTERLEAVED,
    D_ROTARY_OBJECT,
    D_ROTARY_TYPED,
    D_ROTARY_POSITIONS,
    D_ROTARY_TIME,
    D_ROTARY_HEIGHT,
    D_ROTARY_WIDTH,

    D_MLP_SIZE,
    D_MLP_ACT,
    D_MLP_BIAS,
    D_MLP_GATE,
    D_MLP_UP,
    D_MLP_GATE_UP,
    D_MLP_DOWN,
    D_MLP_ACT_NAME,

    D_MOE_EXPERTS,
    D_MOE_TOP_K,
    D_MOE_SIZE,
    D_MOE_ROUTER_NAME,
    D_MOE_EXPERTS_NAME,
    D_MOE_STORED,
    D_MOE_SCORE,
    D_MOE_CORRECTION,
    D_MOE_GROUPS,
    D_MOE_TOP_GROUPS,
    D_MOE_NORMALISE,
    D_MOE_SCALE,
    D_MOE_SHARED_NAME,
    D_MOE_SHARED_SIZE,
    D_MOE_SHARED_GATE,

    D_COUNT
};

/* Words of D_NORM_KIND. */
enum { D_NORM_RMS, D_NORM_LAYER };
/* Of D_QKV_LAYOUT. */
enum { D_QKV_JOINED, D_QKV_BY_HEAD, D_QKV_GROUPED };
/* Of D_HEAD_NORM. */
enum { D_HEAD_NORM_NONE, D_HEAD_NORM_HEAD, D_HEAD_NORM_ALL };
/* Of D_GATE. */
enum { D_GATE_NONE, D_GATE_QUERY };
/* Of D_MOE_SCORE. */
enum { D_SCORE_SOFTMAX, D_SCORE_SIGMOID, D_SCORE_TOP_SOFTMAX, D_SCORE_TOP_SIGMOID };
/* Of D_MOE_STORED. */
enum { D_STORED_LIST, D_STORED_W1_W3_W2, D_STORED_STACKED };
extern const struct graft_choices graft_decoder_choices;

#endif
