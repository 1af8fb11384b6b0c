/* SPDX-License-Identifier: Apache-2.0 */
/* The host's experts implementations (graft/experts_implementation.h). All give the same bits in f32, except batched_mm
 * with many tokens. */
#ifndef GRAFT_ARCH_MOE_EXPERTS_H
#define GRAFT_ARCH_MOE_EXPERTS_H

#include "graft/experts_implementation.h"

extern const struct graft_experts_implementation graft_experts_eager;
extern const struct graft_experts_implementation graft_experts_batched_mm;
extern const struct graft_experts_implementation graft_experts_grouped_mm; /* the default */

#endif
