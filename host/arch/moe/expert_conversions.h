/* SPDX-License-Identifier: Apache-2.0 */
/* Published checkpoints hold the experts one by one; the stacked parameters of the role `experts` are made of them. */
#ifndef GRAFT_ARCH_MOE_EXPERT_CONVERSIONS_H
#define GRAFT_ARCH_MOE_EXPERT_CONVERSIONS_H

#include "graft/conversion.h"

enum { GRAFT_EXPERT_CONVERSIONS = 2, GRAFT_EXPERT_LAYOUTS = 2 };

/* By D_STORED_...: from "E.gate_proj.weight", "E.up_proj.weight", "E.down_proj.weight"; from "E.w1.weight",
 * "E.w3.weight", "E.w2.weight". */
extern const struct graft_conversion graft_expert_conversions[GRAFT_EXPERT_LAYOUTS][GRAFT_EXPERT_CONVERSIONS];

#endif
