/* SPDX-License-Identifier: Apache-2.0 */
/* The mixer of the gated delta rule: delta_net.c describes it, delta_net_inputs.c computes the inputs of the rule,
 * delta_net_forward.c runs it. */
#ifndef GRAFT_ARCH_MIXERS_DELTA_NET_H
#define GRAFT_ARCH_MIXERS_DELTA_NET_H

#include "arch/mixers/delta_rule.h"
#include "graft/class.h"
#include "graft/instance.h"
#include "graft/mixer.h"

/* What `describe` keeps for `create`. */
struct graft_delta_sizes {
    int64_t hidden_size;
    int64_t key_heads;
    int64_t key_dim; /* width of each head of keys; value_dim is that of values */
    int64_t value_heads;
    int64_t value_dim;
    int64_t decays;     /* decays per head: 1 or key_dim */
    int64_t gate_rank;  /* rank of the projections of decays and of gates; 0: they have full rank */
    double decay_floor; /* lower bound of decays; 0: none, and decays are computed with softplus */
    double beta_scale;
    int32_t layout; /* D_MIXER_GROUPED, ... */
    int32_t rates;  /* D_RATES_...: how A_log is stored */
};

/* Projections, by their outputs; NULL if the layout has others. */
struct graft_delta_net {
    struct graft_instance base;
    struct graft_delta_sizes sizes;
    const struct graft_delta_rule_loops *loops;
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

/* The arrays of one forward. */
struct graft_delta_run {
    float *unmixed; /* [tokens, conv_dim]: q, k, v */
    float *qkv;     /* [tokens, conv_dim] */
    float *z;       /* [tokens, value_heads, value_dim]: gates, later the output of the norm */
    float *b;       /* [tokens, value_heads]: later how much of its state a token may change */
    float *a;       /* [tokens, value_heads, decays]: later the decays */
    float *y;       /* [tokens, value_heads, value_dim] */
};

static inline int64_t graft_delta_keys(const struct graft_delta_sizes *sizes) {
    return sizes->key_heads * sizes->key_dim;
}

static inline int64_t graft_delta_values(const struct graft_delta_sizes *sizes) {
    return sizes->value_heads * sizes->value_dim;
}

/* The width of the convolution: queries, keys and values, concatenated. */
static inline int64_t graft_delta_conv_dim(const struct graft_delta_sizes *sizes) {
    return 2 * graft_delta_keys(sizes) + graft_delta_values(sizes);
}

/* [forward] Computes unmixed, z, b and a of the run. */
int graft_delta_project(const struct graft_delta_net *self, const struct graft_call *call,
                        const struct graft_mixer_args *args, const struct graft_delta_run *run,
                        struct graft_error *error);

#endif
