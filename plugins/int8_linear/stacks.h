/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of int8 of stacked experts, for graft/expert_parts.h. */
#ifndef INT8_LINEAR_STACKS_H
#define INT8_LINEAR_STACKS_H

#include "graft/packed_rows.h"
#include "loops.h"

/* [any] graft_packed_rows_loops.multiply, by these loops. Activations stay f32. */
void int8_stack_multiply(const struct int8_loops *loops, const struct graft_packed_rows *self, int64_t first, int64_t n,
                         const float *x, int64_t tokens, float *y);

#endif
