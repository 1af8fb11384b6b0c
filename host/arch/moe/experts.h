/* SPDX-License-Identifier: Apache-2.0 */
/* The host's ways of computing stacked experts (graft/experts_implementation.h). All agree in f32 to the bit, but for
 * batched_mm with several tokens. */
#ifndef GRAFT_ARCH_MOE_EXPERTS_H
#define GRAFT_ARCH_MOE_EXPERTS_H

#include "graft/experts_implementation.h"

extern const struct graft_experts_implementation graft_experts_eager;
extern const struct graft_experts_implementation graft_experts_batched_mm;
extern const struct graft_experts_implementation graft_experts_grouped_mm; /* where nothing is chosen */

#endif
