/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares hidden states for a router, in families that do so: they are normed, divided by the square root of their
 * width, and multiplied by a vector. */
#ifndef GRAFT_ARCH_MOE_ROUTER_INPUT_H
#define GRAFT_ARCH_MOE_ROUTER_INPUT_H

#include "arch/data/description.h"
#include "graft/class.h"

struct graft_router_input {
    const struct graft_module *norm;  /* NULL: nothing is done */
    const struct graft_weight *scale; /* [hidden_size]; NULL: none */
    int64_t hidden_size;
};

/* [load] Declares the norm and the vector. */
int graft_router_input_describe(struct graft_reader *reader, int64_t hidden_size, const struct graft_sink *sink,
                                struct graft_error *error);

/* [load] Finds the norm and the vector. */
void graft_router_input_find(struct graft_router_input *self, const struct graft_description *description,
                             int64_t hidden_size, const struct graft_build *build, struct graft_error *error);

/* [forward] Replaces *x [tokens, hidden_size] by the router's input, in scratch memory. */
int graft_router_input_run(const struct graft_router_input *self, const struct graft_call *call, int64_t tokens,
                           const float **x, struct graft_error *error);

#endif
