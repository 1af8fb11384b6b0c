/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/moe/expert_conversions.h"

#include "arch/decoder/choices.h"

static const char *const projections[] = {"*.gate_proj.weight", "*.up_proj.weight", "*.down_proj.weight"};
static const char *const numbered[] = {"*.w1.weight", "*.w3.weight", "*.w2.weight"};
static const char *const bias_targets[] = {"gate_up_proj_bias"};
static const char *const gate_up_targets[] = {"gate_up_proj"};
static const char *const up_targets[] = {"up_proj"};
static const char *const down_targets[] = {"down_proj"};

/* The first one stacks the experts; both together then join gate and up. */
static const struct graft_operation stack_and_join[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_MERGE_MODULELIST, .dim = 0},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CONCATENATE, .dim = 1},
};

static const struct graft_operation transpose_and_part[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_TRANSPOSE, .dim = 1, .dim1 = 2},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_INTERLEAVE, .dim = 1},
};

/* For checkpoints that may have been transposed already: check_dims looks at the shape. */
static const struct graft_operation transpose_if_needed[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_TRANSPOSE, .dim = 1, .dim1 = 2, .check_dims = 1},
};

#define CONVERSION(sources_, n_sources_, targets_, n_operations_)                                             \
    {                                                                                                         \
        .struct_size = sizeof(struct graft_conversion), .n_sources = n_sources_, .sources = (sources_),       \
        .targets = (targets_), .operations = stack_and_join, .n_targets = 1, .n_operations = (n_operations_), \
        .operation_stride = sizeof(struct graft_operation),                                                   \
    }

/* The conversion of a parameter that has the same name in the checkpoint as in the class. */
#define IN_PLACE(name, first, n)                                                                           \
    {                                                                                                      \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 1, .sources = (name), .n_targets = 1, \
        .targets = (name), .n_operations = (n), .operations = (first),                                     \
        .operation_stride = sizeof(struct graft_operation)                                                 \
    }

static const struct graft_conversion list[] = {
    CONVERSION(&projections[0], 2, gate_up_targets, 2),
    CONVERSION(&projections[2], 1, down_targets, 1),
};
static const struct graft_conversion w1_w3_w2[] = {
    CONVERSION(&numbered[0], 2, gate_up_targets, 2),
    CONVERSION(&numbered[2], 1, down_targets, 1),
};
static const struct graft_conversion plain[] = {
    CONVERSION(&projections[1], 1, up_targets, 1),
    CONVERSION(&projections[2], 1, down_targets, 1),
};
static const struct graft_conversion interleaved[] = {
    IN_PLACE(gate_up_targets, transpose_and_part, 2),
    IN_PLACE(bias_targets, transpose_and_part + 1, 1),
    IN_PLACE(down_targets, transpose_and_part, 1),
};
static const struct graft_conversion transposed[] = {
    IN_PLACE(gate_up_targets, transpose_if_needed, 1),
    IN_PLACE(down_targets, transpose_if_needed, 1),
};

const struct graft_expert_layout graft_expert_layouts[GRAFT_EXPERT_LAYOUTS] = {
    [D_STORED_LIST] = {list, 2},
    [D_STORED_W1_W3_W2] = {w1_w3_w2, 2},
    [D_STORED_STACKED] = {NULL, 0},
    [D_STORED_INTERLEAVED] = {interleaved, 3},
    [D_STORED_TRANSPOSED] = {transposed, 2},
};

const struct graft_expert_layout graft_plain_experts_layout = {plain, 2};
