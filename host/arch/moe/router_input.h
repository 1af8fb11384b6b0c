/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares hidden states for a router, in families that do so: they are normed, divided by the square root of their
 * width, and multiplied by a vector. */
#ifndef GRAFT_ARCH_MOE_ROUTER_INPUT_H
#define GRAFT_ARCH_MOE_ROUTER_INPUT_H

#include "arch/outline.h"
#include "arch/pass.h"

struct graft_router_input {
    const struct graft_module *norm;  /* NULL: nothing is done */
    const struct graft_weight *scale; /* [hidden_size]; NULL: none */
};

/* [load] Lays out the norm and the vector. */
void graft_router_input_outline(struct graft_outline *of, struct graft_router_input *self, int64_t hidden_size);

/* [forward] The router's input of x [tokens, hidden_size]. */
const float *graft_router_input_run(const struct graft_router_input *self, const struct graft_pass *pass,
                                    int64_t hidden_size, const float *x);

#endif
