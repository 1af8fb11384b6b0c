/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recurrence of a selective state space model (Dao & Gu 2024). A head keeps a matrix `state` of each sequence, and
 * for each token with step dt and input x
 *
 *     state = exp(dt * A) * state + dt * B x^T
 *     y     = state^T C + D * x
 *
 * Whole chunks of tokens are computed at once: the state before a chunk and the chunk's own inputs, weighted by how far
 * each has decayed, give all of its outputs (section 6 there). Tokens that do not fill a chunk go one by one. So what a
 * token gives depends on the cut of a prompt by rounding alone, and not at all where few tokens are fed at once.
 */
#ifndef GRAFT_ARCH_MIXERS_MAMBA2_SCAN_H
#define GRAFT_ARCH_MIXERS_MAMBA2_SCAN_H

#include <stdint.h>

#include "arch/pass.h"
#include "graft/batch.h"
#include "graft/isa.h"

/* One sequence. All arrays are f32. */
struct graft_mamba2_scan {
    int64_t num_heads;
    int64_t head_dim;
    int64_t state_size;
    int64_t n_groups;
    const float *A; /* [num_heads], below 0 */
    const float *D; /* [num_heads] */
    int64_t tokens;
    const float *dt;  /* [tokens, num_heads] */
    const float *xBC; /* [tokens, conv_dim]: x [num_heads, head_dim], B and C [n_groups, state_size] each */
    float *y;         /* [tokens, num_heads, head_dim] */
    float *state;     /* [num_heads, state_size, head_dim] */
};

struct graft_mamba2_scan_loops {
    /* [any] Runs one head of the sequence, by its number. */
    void (*run_head)(const struct graft_mamba2_scan *scan, int64_t number);
};

GRAFT_ISA_DECLARE(const struct graft_mamba2_scan_loops, graft_mamba2_scan);

/* [forward] Runs all sequences of a batch. The arrays of `whole` are those of all tokens; its `tokens` and `state` are
 * not read. `states` has the state of each sequence. */
void graft_mamba2_scan_batch(const struct graft_mamba2_scan_loops *loops, const struct graft_mamba2_scan *whole,
                             const struct graft_pass *pass, const struct graft_batch *batch,
                             const struct graft_state *states);

#endif
