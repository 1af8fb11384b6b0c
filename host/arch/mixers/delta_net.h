/* SPDX-License-Identifier: Apache-2.0 */
/* The mixer of the gated delta rule: delta_net.c lays it out and runs it, delta_net_inputs.c computes the
 * inputs of the rule. */
#ifndef GRAFT_ARCH_MIXERS_DELTA_NET_H
#define GRAFT_ARCH_MIXERS_DELTA_NET_H

#include "arch/mixers/delta_rule.h"
#include "arch/mixers/mixer.h"
#include "graft/mixer.h"

/* Projections are named by their outputs, and NULL if the layout has others. */
struct graft_delta_net {
    struct graft_instance base;
    const struct graft_delta_rule_loops *loops;
    int64_t key_heads;
    int64_t key_dim; /* width of each head of keys; value_dim is that of values */
    int64_t value_heads;
    int64_t value_dim;
    int64_t decays;    /* decays per head: 1 or key_dim */
    int64_t gate_rank; /* rank of the projections of decays and of gates; 0: they have full rank */
    float decay_floor; /* lower bound of decays; 0: none, and decays are computed with softplus */
    float beta_scale;
    const struct graft_module *qkvz;
    const struct graft_module *ba;
    const struct graft_module *qkv;
    const struct graft_module *q;
    const struct graft_module *k;
    const struct graft_module *v;
    const struct graft_module *z; /* gates; with gate_rank after narrow_z */
    const struct graft_module *b;
    const struct graft_module *a; /* decays; with gate_rank after narrow_a */
    const struct graft_module *narrow_z;
    const struct graft_module *narrow_a;
    const struct graft_module *conv1d;
    const struct graft_module *norm;
    const struct graft_module *output;
    const struct graft_weight *dt_bias;         /* [value_heads, decays] */
    const struct graft_weight *A_log;           /* [value_heads] */
    const struct graft_state *recurrent_states; /* [value_heads, key_dim, value_dim] f32 */
};

/* The inputs of the rule. */
struct graft_delta_run {
    float *unmixed; /* [tokens, conv_dim]: q, k, v */
    float *z;       /* [tokens, value_heads, value_dim]: gates, later the output of the norm */
    float *b; /* [tokens, value_heads]: projection b, replaced by beta, how much a token may change its head's state */
    float *a; /* [tokens, value_heads, decays]: projection a, replaced by the decays */
};

static inline int64_t graft_delta_keys(const struct graft_delta_net *self) {
    return self->key_heads * self->key_dim;
}

static inline int64_t graft_delta_values(const struct graft_delta_net *self) {
    return self->value_heads * self->value_dim;
}

/* The width of the convolution: queries, keys and values, concatenated. */
static inline int64_t graft_delta_conv_dim(const struct graft_delta_net *self) {
    return 2 * graft_delta_keys(self) + graft_delta_values(self);
}

/* [forward] Computes the run of x [tokens, hidden_size]. */
struct graft_delta_run graft_delta_project(const struct graft_delta_net *self, const struct graft_pass *pass,
                                           const float *x);

#endif
