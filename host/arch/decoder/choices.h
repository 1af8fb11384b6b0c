/* SPDX-License-Identifier: Apache-2.0 */
/* The choices of decoders: what a family file can say about one, by number. choice_list.h has their names, bounds and
 * meanings. */
#ifndef GRAFT_ARCH_DECODER_CHOICES_H
#define GRAFT_ARCH_DECODER_CHOICES_H

#include "arch/data/description.h"

/* Far above the sizes of published models, and small enough that products of four sizes fit 64 bits. */
enum { GRAFT_MAX_SIZE = 1 << 20, GRAFT_MAX_LAYERS = 4096, GRAFT_MAX_EXPERTS = 4096 };

enum {
#define CHOICE(number, ...) number,
#include "arch/decoder/choice_list.h"
#undef CHOICE
    D_COUNT
};

/* Words of D_NORM_KIND. */
enum { D_NORM_RMS, D_NORM_LAYER };
/* Of D_MODEL_PREDICTORS. */
enum { D_PREDICTORS_NONE, D_PREDICTORS_AFTER };
/* Of D_HEAD_POOLING. */
enum { D_POOLING_LAST, D_POOLING_CLS, D_POOLING_MEAN, D_POOLING_POOLER, D_POOLING_LATE };
/* Of D_RELATIVE_OF. */
enum { D_RELATIVE_NONE, D_RELATIVE_MODEL, D_RELATIVE_FIRST, D_RELATIVE_EACH };
/* Of D_PROJECTED. */
enum { D_PROJECTED_ONCE, D_PROJECTED_ROUTED };
/* Of D_QKV_LAYOUT. */
enum { D_QKV_JOINED, D_QKV_BY_HEAD, D_QKV_GROUPED, D_QKV_BLOCKS };
/* Of D_HEAD_NORM. */
enum { D_HEAD_NORM_NONE, D_HEAD_NORM_HEAD, D_HEAD_NORM_ALL, D_HEAD_NORM_EACH };
/* Of D_GATE. */
enum { D_GATE_NONE, D_GATE_QUERY, D_GATE_NUMBER, D_GATE_HEAD };
/* Of D_GATE_ACT. */
enum { D_GATE_SIGMOID, D_GATE_SOFTPLUS };
/* Of D_MIXER_KIND. */
enum {
    D_MIXER_NONE,
    D_MIXER_MAMBA,
    D_MIXER_MAMBA2,
    D_MIXER_DELTA,
    D_MIXER_SHORT_CONV,
    D_MIXER_LIGHTNING,
    D_MIXER_RG_LRU,
    D_MIXER_RWKV
};
/* Of D_MIXER_NORM_ORDER. */
enum { D_GATE_FIRST, D_GATE_LAST };
/* Of D_MIXER_GATE_ACT. */
enum { D_GATE_ACT_SILU, D_GATE_ACT_SIGMOID };
/* Of D_MIXER_STEP_NORMS. */
enum { D_STEP_NORMS_NONE, D_STEP_NORMS_PLAIN, D_STEP_NORMS_WEIGHTED };
/* Of D_MIXER_LAYOUT. */
enum { D_MIXER_GROUPED, D_MIXER_JOINED, D_MIXER_SEPARATE };
/* Of D_MIXER_RATES. */
enum { D_RATES_VECTOR, D_RATES_BLOCK };
/* Of D_MIXER_DECAY. */
enum { D_DECAY_HEAD, D_DECAY_KEY };
/* Of D_MOE_SCORE. */
enum { D_SCORE_SOFTMAX, D_SCORE_SIGMOID, D_SCORE_TOP_SOFTMAX, D_SCORE_TOP_SIGMOID, D_SCORE_SPARSEMIXER };
/* Of D_MOE_KIND. */
enum { D_EXPERTS_GATED, D_EXPERTS_PLAIN };
/* Of D_MOE_STORED. */
enum { D_STORED_LIST, D_STORED_W1_W3_W2, D_STORED_STACKED, D_STORED_INTERLEAVED, D_STORED_TRANSPOSED };
extern const struct graft_choices graft_decoder_choices;

#endif
