/* SPDX-License-Identifier: Apache-2.0 */
/* A router and the experts that it chooses from, as children of a class. */
#ifndef GRAFT_ARCH_MOE_MIXTURE_H
#define GRAFT_ARCH_MOE_MIXTURE_H

#include "arch/outline.h"
#include "arch/pass.h"
#include "graft/experts.h"

struct graft_mixture {
    int64_t num_experts;
    int64_t k; /* experts per token */
    const struct graft_module *router;
    const struct graft_module *experts;
    uint32_t features; /* features that the experts must support */
};

/* [load] Lays out router and experts for the reader's layer; experts of hidden states that are `width` wide. The
 * arguments of the module are those of an MLP. */
void graft_mixture_outline(struct graft_outline *of, struct graft_mixture *self, int64_t width);

/* [forward] Runs a router on x [tokens, hidden_size]; args, in scratch memory, lack hidden_states and output. */
struct graft_experts_args graft_mixture_route(const struct graft_module *router, const struct graft_pass *pass,
                                              int64_t num_experts, int64_t k, const float *x);

/* [forward] args->output = experts(args->hidden_states). */
void graft_mixture_run(const struct graft_mixture *self, const struct graft_pass *pass, struct graft_experts_args *args,
                       const float *x, float *output);

#endif
