/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/moe/expert_conversions.h"

static const char *const gate_up_sources[] = {"*.gate_proj.weight", "*.up_proj.weight"};
static const char *const down_sources[] = {"*.down_proj.weight"};

const char *const graft_gate_up_targets[1] = {"gate_up_proj"};
const char *const graft_down_targets[1] = {"down_proj"};

const struct graft_operation graft_stack_and_join[2] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_MERGE_MODULELIST, .dim = 0},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 1},
};

const struct graft_conversion graft_expert_conversions[GRAFT_EXPERT_CONVERSIONS] =
    GRAFT_EXPERT_CONVERSION_LIST(gate_up_sources, down_sources);
