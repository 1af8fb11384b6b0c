/* SPDX-License-Identifier: Apache-2.0 */
/* The pooler of an encoder, which gives one vector for a sequence: tanh of a Linear of its first token's hidden state.
 */
#ifndef GRAFT_ARCH_DECODER_POOLER_H
#define GRAFT_ARCH_DECODER_POOLER_H

#include "arch/data/description.h"
#include "graft/batch.h"
#include "graft/class.h"

struct graft_pooler {
    const struct graft_module *dense; /* hidden_size -> hidden_size; NULL: there is no pooler */
    const struct graft_module *act;
    int64_t hidden_size;
};

/* [load] Declares the children. */
int graft_pooler_describe(const struct graft_description *description, const struct graft_sink *sink,
                          int64_t hidden_size, struct graft_error *error);

/* [load] Finds them. */
void graft_pooler_create(struct graft_pooler *self, const struct graft_description *description, int64_t hidden_size,
                         const struct graft_build *build, struct graft_error *error);

/* [forward] output [sequences, hidden_size] of hidden_states [tokens, hidden_size]. */
int graft_pooler_forward(const struct graft_pooler *self, const struct graft_call *call,
                         const struct graft_batch *batch, const float *hidden_states, float *output,
                         struct graft_error *error);

#endif
