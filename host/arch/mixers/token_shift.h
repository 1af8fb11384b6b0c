/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of RWKV's two mixers (Peng et al. 2023): each token mixed with the one before it. */
#ifndef GRAFT_ARCH_MIXERS_TOKEN_SHIFT_H
#define GRAFT_ARCH_MIXERS_TOKEN_SHIFT_H

#include "graft/batch.h"
#include "graft/call.h"
#include "graft/tensor.h"

/* [forward] shifted [tokens, width] = the token before each one. For a sequence's first token that is the state
 * [width], which then becomes its last token. */
int graft_token_shift(const struct graft_call *call, const struct graft_batch *batch, const struct graft_state *state,
                      const float *x, int64_t width, float *shifted, struct graft_error *error);

/* [forward] x * mix + shifted * (1 - mix) in scratch memory, `mix` [1, 1, width]; NULL with an error recorded. */
float *graft_token_mix(const struct graft_call *call, const struct graft_weight *mix, const float *x,
                       const float *shifted, int64_t tokens, int64_t width, struct graft_error *error);

#endif
