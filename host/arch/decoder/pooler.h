/* SPDX-License-Identifier: Apache-2.0 */
/* The pooler of an encoder, which computes one vector for a sequence: tanh of a Linear of its first token's hidden
 * state. */
#ifndef GRAFT_ARCH_DECODER_POOLER_H
#define GRAFT_ARCH_DECODER_POOLER_H

#include "arch/data/description.h"
#include "graft/parts.h"

/* [load] Describes the pooler as a transform. */
struct graft_parts_transform_info graft_pooler_info(const struct graft_description *description, int64_t hidden_size);

/* [forward] output [sequences, hidden_size] of hidden_states [tokens, hidden_size]. */
int graft_pooler_forward(const struct graft_parts_transform *self, const struct graft_call *call,
                         const struct graft_batch *batch, const float *hidden_states, float *output,
                         struct graft_error *error);

#endif
