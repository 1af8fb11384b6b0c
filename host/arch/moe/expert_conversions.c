/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/moe/expert_conversions.h"

static const char *const projections[] = {"*.gate_proj.weight", "*.up_proj.weight", "*.down_proj.weight"};
static const char *const numbered[] = {"*.w1.weight", "*.w3.weight", "*.w2.weight"};
static const char *const gate_up_targets[] = {"gate_up_proj"};
static const char *const down_targets[] = {"down_proj"};

/* The first one stacks the experts; both together then join gate and up. */
static const struct graft_operation stack_and_join[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_MERGE_MODULELIST, .dim = 0},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 1},
};

#define CONVERSION(sources_, n_sources_, targets_, n_operations_)                                             \
    {                                                                                                         \
        .struct_size = sizeof(struct graft_conversion), .n_sources = n_sources_, .sources = (sources_),       \
        .targets = (targets_), .operations = stack_and_join, .n_targets = 1, .n_operations = (n_operations_), \
        .operation_stride = sizeof(struct graft_operation),                                                   \
    }

const struct graft_conversion graft_expert_conversions[GRAFT_EXPERT_LAYOUTS][GRAFT_EXPERT_CONVERSIONS] = {
    {CONVERSION(&projections[0], 2, gate_up_targets, 2), CONVERSION(&projections[2], 1, down_targets, 1)},
    {CONVERSION(&numbered[0], 2, gate_up_targets, 2), CONVERSION(&numbered[2], 1, down_targets, 1)},
};
