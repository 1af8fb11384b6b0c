/* SPDX-License-Identifier: Apache-2.0 */
/* A router and the experts that it chooses from, as children of a class. */
#ifndef GRAFT_ARCH_MOE_MIXTURE_H
#define GRAFT_ARCH_MOE_MIXTURE_H

#include "arch/data/description.h"
#include "graft/class.h"
#include "graft/experts.h"

struct graft_mixture {
    int64_t num_experts;
    int64_t k; /* experts per token */
    const struct graft_module *router;
    const struct graft_module *experts;
    uint32_t features; /* features that the experts must support */
};

/* [load] Declares router and experts for the reader's layer; experts of hidden states that are `width` wide. `args` are
 * those of an MLP. */
int graft_mixture_describe(struct graft_reader *reader, int64_t width, const struct graft_args *args,
                           const struct graft_sink *sink, struct graft_error *error);

/* [load] Finds router and experts. */
void graft_mixture_find(struct graft_mixture *self, struct graft_reader *reader, const struct graft_build *build,
                        struct graft_error *error);

/* [forward] Runs the router on `seen` [tokens, hidden_size], and fills in args, in scratch memory, except for
 * hidden_states and output. */
int graft_mixture_route(const struct graft_mixture *self, const struct graft_call *call, int64_t tokens,
                        const float *seen, struct graft_experts_args *args, struct graft_error *error);

#endif
