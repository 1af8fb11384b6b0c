/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the experts implementations: pairs of a token and an expert, sorted by expert, and their products. */
#ifndef GRAFT_ARCH_MOE_EXPERT_PAIRS_H
#define GRAFT_ARCH_MOE_EXPERT_PAIRS_H

#include "arch/moe/experts.h"
#include "arch/pass.h"
#include "graft/kernels.h"

/* The pairs, sorted by expert, and by token within an expert. */
struct graft_expert_pairs {
    int64_t *first; /* [num_experts + 1]: those of expert e are [first[e], first[e + 1]) */
    int32_t *token; /* [tokens * k] */
    float *weight;  /* [tokens * k] */
};

/* [forward] Sorts the pairs, in scratch memory. */
int graft_expert_pairs_sort(const struct graft_call *call, const struct graft_experts_input *input,
                            struct graft_expert_pairs *pairs, struct graft_error *error);

/* [forward] output [tokens, hidden] += the weighted x [pairs, hidden] of the experts [begin, end), in order; the first
 * row of x is the first pair of `begin`. */
int graft_expert_pairs_sum(const struct graft_call *call, const struct graft_expert_pairs *pairs, int64_t begin,
                           int64_t end, const float *x, int64_t hidden, float *output, struct graft_error *error);

/* The products of consecutive experts, and the memory for their intermediate results. */
struct graft_expert_run {
    const struct graft_product *products; /* [2 n + n]: gate and up of each expert, then down of each */
    int32_t n;
    float *gate; /* [pairs, intermediate_size]: y of gate, and x of down */
    float *up;   /* likewise */
    int64_t pairs;
};

/* [forward] Runs gate, up and down: in one call if the activation is one of the host's. */
int graft_expert_run(const struct graft_call *call, const struct graft_experts_input *input,
                     const struct graft_expert_run *run, struct graft_error *error);

#endif
