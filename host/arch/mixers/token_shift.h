/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of RWKV's two mixers (Peng et al. 2023): each token mixed with the one before it. */
#ifndef GRAFT_ARCH_MIXERS_TOKEN_SHIFT_H
#define GRAFT_ARCH_MIXERS_TOKEN_SHIFT_H

#include "arch/mixers/mixer.h"
#include "graft/mixer.h"

enum { GRAFT_TOKEN_MIXES = 3 };

/* Projections of tokens mixed with those before them, each with factors of its own. */
struct graft_token_shift {
    const struct graft_module *projections[GRAFT_TOKEN_MIXES];
    const struct graft_weight *mixes[GRAFT_TOKEN_MIXES]; /* [1, 1, hidden_size] */
    int64_t widths[GRAFT_TOKEN_MIXES];                   /* hidden_size -> width */
    int32_t n;
    const struct graft_state *shift_states; /* [hidden_size] f32: the last token */
};

/* [load] Lays out `n` projections with their factors, time_mix_NAME, and the state. */
void graft_token_shift_outline(struct graft_outline *of, struct graft_token_shift *self, const char *const names[][2],
                               const int64_t *widths, int32_t n);

/* [forward] made[i] [tokens, widths[i]] = projections[i](x * mixes[i] + shifted * (1 - mixes[i])). */
void graft_token_shift_run(const struct graft_token_shift *self, const struct graft_pass *pass,
                           const struct graft_mixer_args *args, float **made);

#endif
