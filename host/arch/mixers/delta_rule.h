/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gated delta rule (Yang et al. 2024). A head keeps a matrix `state` of each sequence, and for each token with key
 * k, query q, value v, decay g (below 0; a number, or one for each of key_dim rows: Kimi Team 2025) and step beta
 *
 *     state = exp(g) * state
 *     state = state + beta * k (v - state^T k)^T
 *     y     = state^T q
 *
 * Whole chunks of tokens are computed at once (section 3.3 there): what each token changes follows from the state
 * before the chunk and from what those before it in the chunk change, and both are matrix products. Tokens that do not
 * fill a chunk go one by one, as do all where rows decay each by itself. So what a token gives depends on the cut of a
 * prompt by rounding alone, and not at all where few tokens are fed at once.
 */
#ifndef GRAFT_ARCH_MIXERS_DELTA_RULE_H
#define GRAFT_ARCH_MIXERS_DELTA_RULE_H

#include <stdint.h>

#include "graft/isa.h"

/* One sequence. All arrays are f32. Heads of values share keys and queries: `value_heads` is a multiple of `key_heads`.
 */
struct graft_delta_rule {
    int64_t key_heads;
    int64_t key_dim;
    int64_t value_heads;
    int64_t value_dim;
    int64_t decays; /* decays per head: 1 or key_dim */
    int64_t tokens;
    const float *g;    /* [tokens, value_heads, decays] */
    const float *beta; /* [tokens, value_heads] */
    /* [tokens, conv_dim]: q and k [key_heads, key_dim] each, v [value_heads, value_dim], which is overwritten */
    float *qkv;
    float *y;     /* [tokens, value_heads, value_dim] */
    float *state; /* [value_heads, key_dim, value_dim] */
};

struct graft_delta_rule_loops {
    /* [any] Runs one head of values, by its number. */
    void (*run_head)(const struct graft_delta_rule *rule, int64_t number);
    /* [any] Scales q and k of token `t` to length 1, and q by 1 / sqrt(key_dim), before any head runs. */
    void (*normalise)(const struct graft_delta_rule *rule, int64_t t);
};

GRAFT_ISA_DECLARE(const struct graft_delta_rule_loops, graft_delta_rule);

#endif
