/* SPDX-License-Identifier: Apache-2.0 */
/* A router and the experts that it chooses from, as children of a class. */
#ifndef GRAFT_ARCH_MOE_MIXTURE_H
#define GRAFT_ARCH_MOE_MIXTURE_H

#include "arch/data/description.h"
#include "graft/class.h"
#include "graft/experts.h"

struct graft_mixture {
    int64_t num_experts;
    int64_t k; /* of a token */
    const struct graft_module *router;
    const struct graft_module *experts;
    uint32_t features; /* that the experts must have */
};

/* [load] Declares both for the reader's layer, experts of hidden states of `width` numbers. `args` are those of an MLP.
 */
int graft_mixture_describe(struct graft_reader *reader, int64_t width, const struct graft_args *args,
                           const struct graft_sink *sink, struct graft_error *error);

/* [load] Finds them. */
void graft_mixture_find(struct graft_mixture *self, struct graft_reader *reader, const struct graft_build *build,
                        struct graft_error *error);

/* [forward] Fills in args, in scratch memory, by what the router makes of `seen` [tokens, hidden_size]: all but
 * hidden_states and output. */
int graft_mixture_route(const struct graft_mixture *self, const struct graft_call *call, int64_t tokens,
                        const float *seen, struct graft_experts_args *args, struct graft_error *error);

#endif
