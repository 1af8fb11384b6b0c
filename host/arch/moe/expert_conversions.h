/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of experts in checkpoints, mostly one by one, and their conversions to the stacked parameters of the
 * class. */
#ifndef GRAFT_ARCH_MOE_EXPERT_CONVERSIONS_H
#define GRAFT_ARCH_MOE_EXPERT_CONVERSIONS_H

#include "graft/conversion.h"

enum { GRAFT_EXPERT_LAYOUTS = 5 };

struct graft_expert_layout {
    const struct graft_conversion *conversions; /* [n]; NULL: none */
    int32_t n;
};

/* By D_STORED_... */
extern const struct graft_expert_layout graft_expert_layouts[GRAFT_EXPERT_LAYOUTS];

/* The layout of experts without gates: E.up_proj, E.down_proj. */
extern const struct graft_expert_layout graft_plain_experts_layout;

#endif
