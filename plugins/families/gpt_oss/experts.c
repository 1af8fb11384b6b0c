/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints have the experts' weights [experts, in, out], with gate and up of an output next to each other; experts
 * implementations take [experts, out, in], all of gate before all of up.
 */
#include "gpt_oss.h"

static const char *const gate_up[] = {"gate_up_proj"};
static const char *const gate_up_bias[] = {"gate_up_proj_bias"};
static const char *const down[] = {"down_proj"};

static const struct graft_operation transpose_and_part[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_TRANSPOSE, .dim = 1, .dim1 = 2},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_INTERLEAVE, .dim = 1},
};

#define IN_PLACE(name, first, n)                                                                           \
    {                                                                                                      \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 1, .sources = (name), .n_targets = 1, \
        .targets = (name), .n_operations = (n), .operations = (first),                                     \
        .operation_stride = sizeof(struct graft_operation)                                                 \
    }

const struct graft_conversion gpt_oss_experts_conversions[GPT_OSS_EXPERTS_CONVERSIONS] = {
    IN_PLACE(gate_up, transpose_and_part, 2),
    IN_PLACE(gate_up_bias, transpose_and_part + 1, 1),
    IN_PLACE(down, transpose_and_part, 1),
};
