/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of int8 of stacked experts, for graft/expert_parts.h. */
#ifndef INT8_LINEAR_STACKS_H
#define INT8_LINEAR_STACKS_H

#include "graft/packed_rows.h"

/* [any] Products by the loops of this processor (loops.h). Activations stay f32. */
const struct graft_packed_rows_loops *int8_stack_loops(void);

#endif
