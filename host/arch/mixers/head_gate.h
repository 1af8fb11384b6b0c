/* SPDX-License-Identifier: Apache-2.0 */
/* Gates of the real-gated linear recurrent unit (rg_lru.c): products with a matrix for each head. */
#ifndef GRAFT_ARCH_MIXERS_HEAD_GATE_H
#define GRAFT_ARCH_MIXERS_HEAD_GATE_H

#include <stdint.h>

#include "graft/isa.h"

struct graft_head_gate_loops {
    /* [any] y [dim] = x [dim] times weight [dim, dim] (inputs by outputs) plus bias [dim]; y overlaps nothing. */
    void (*multiply)(const float *x, const float *weight, const float *bias, int64_t dim, float *y);
};

GRAFT_ISA_DECLARE(const struct graft_head_gate_loops, graft_head_gate);

#endif
