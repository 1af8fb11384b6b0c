/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recurrence of a selective state space model (Gu & Dao 2023). Each channel keeps `state_size` numbers of each
 * sequence, and for each token with step dt and input x
 *
 *     state[n] = exp(dt * A[n]) * state[n] + dt * B[n] * x
 *     y        = sum over n of C[n] * state[n] + D * x
 *
 * Channels do not see each other, so they are what runs side by side, in a processor's vectors and on its threads;
 * tokens go one by one, and their cut changes no bit.
 */
#ifndef GRAFT_ARCH_MIXERS_MAMBA_SCAN_H
#define GRAFT_ARCH_MIXERS_MAMBA_SCAN_H

#include <stdint.h>

#include "graft/isa.h"

/* One sequence. All arrays are f32. */
struct graft_mamba_scan {
    int64_t channels;
    int64_t state_size;
    const float *A; /* [state_size, channels], below 0 */
    const float *D; /* [channels] */
    int64_t tokens;
    const float *dt; /* [tokens, channels]: its softplus is the step */
    const float *x;  /* [tokens, channels] */
    const float *B;  /* [tokens, state_size] */
    const float *C;  /* [tokens, state_size] */
    float *y;        /* [tokens, channels] */
    float *state;    /* [state_size, channels] */
};

/* How many channels are processed together. */
enum { GRAFT_MAMBA_SCAN_BLOCK = 64 };

struct graft_mamba_scan_loops {
    /* [any] Processes all tokens of the channels from `first` on, at most GRAFT_MAMBA_SCAN_BLOCK of them. */
    void (*run_block)(const struct graft_mamba_scan *scan, int64_t first);
    /* [any] Computes A of the channels [begin, end) from A_log [channels, state_size]. */
    void (*find_A)(const struct graft_mamba_scan *scan, const float *A_log, float *A, int64_t begin, int64_t end);
};

GRAFT_ISA_DECLARE(const struct graft_mamba_scan_loops, graft_mamba_scan);

#endif
