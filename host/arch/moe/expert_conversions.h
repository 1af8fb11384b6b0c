/* SPDX-License-Identifier: Apache-2.0 */
/* Published checkpoints hold the experts one by one; the stacked parameters of the role `experts` are made of them. */
#ifndef GRAFT_ARCH_MOE_EXPERT_CONVERSIONS_H
#define GRAFT_ARCH_MOE_EXPERT_CONVERSIONS_H

#include "graft/conversion.h"

enum { GRAFT_EXPERT_CONVERSIONS = 2 };

/* From "E.gate_proj.weight", "E.up_proj.weight" and "E.down_proj.weight". */
extern const struct graft_conversion graft_expert_conversions[GRAFT_EXPERT_CONVERSIONS];

extern const char *const graft_gate_up_targets[1];
extern const char *const graft_down_targets[1];
/* The first operation stacks the experts; both together then join gate and up. */
extern const struct graft_operation graft_stack_and_join[2];

/* The same from other names: arrays of two sources (gate, up) and of one (down). */
#define GRAFT_EXPERT_CONVERSION_LIST(gate_up_sources, down_sources) \
    {                                                               \
        {                                                           \
            .struct_size = sizeof(struct graft_conversion),         \
            .n_sources = 2,                                         \
            .sources = gate_up_sources,                             \
            .targets = graft_gate_up_targets,                       \
            .operations = graft_stack_and_join,                     \
            .n_targets = 1,                                         \
            .n_operations = 2,                                      \
            .operation_stride = sizeof(struct graft_operation),     \
        },                                                          \
            {                                                       \
                .struct_size = sizeof(struct graft_conversion),     \
                .n_sources = 1,                                     \
                .sources = down_sources,                            \
                .targets = graft_down_targets,                      \
                .operations = graft_stack_and_join,                 \
                .n_targets = 1,                                     \
                .n_operations = 1,                                  \
                .operation_stride = sizeof(struct graft_operation), \
            },                                                      \
    }

#endif
