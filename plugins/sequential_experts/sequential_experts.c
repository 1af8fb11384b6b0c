/* SPDX-License-Identifier: Apache-2.0 */
/* Experts as a list of small MLPs, each with Linear children of its own, instead of two stacked parameters: a layout in
 * which quantizers find Linears. Results have the same bits as the original's.
 *
 * ModuleListExperts replaces the experts of every family. Its children "0", "1", ... are of the class MoeMLP, which is
 * private to this plugin. */
#include "graft/expert_parts.h"
#include "graft/plugin.h"

/* --- Conversions of stacked experts; checkpoints with listed experts need none --- */

static const char *const gate_up_sources[] = {"gate_up_proj"};
static const char *const gate_up_targets[] = {"*.gate_proj.weight", "*.up_proj.weight"};
static const char *const down_sources[] = {"down_proj"};
static const char *const down_targets[] = {"*.down_proj.weight"};

/* Splits [num_experts, 2 * intermediate_size, hidden_size] in two along dim 1, then into experts along dim 0. */
static const struct graft_operation cut_gate_up[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_CHUNK, .dim = 1},
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_SPLIT_MODULELIST, .dim = 0},
};
static const struct graft_operation cut_down[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_SPLIT_MODULELIST, .dim = 0},
};

/* Mixtral's names are w1 for the gate projection, w3 for the up projection, and w2 for the down projection. Declared
 * for the list, so that a class around it can select experts, and for each expert, for further tensors of a quantized
 * Linear. */
static const char *const gate_sources[] = {"*.w1.weight"};
static const char *const up_sources[] = {"*.w3.weight"};
static const char *const w2_sources[] = {"*.w2.weight"};

static const struct graft_conversion conversions[] = {
    GRAFT_RENAMING(gate_sources, &gate_up_targets[0]),
    GRAFT_RENAMING(up_sources, &gate_up_targets[1]),
    GRAFT_RENAMING(w2_sources, down_targets),
    {
        .struct_size = sizeof(struct graft_conversion),
        .n_sources = 1,
        .sources = gate_up_sources,
        .n_targets = 2,
        .targets = gate_up_targets,
        .n_operations = 2,
        .operations = cut_gate_up,
        .operation_stride = sizeof cut_gate_up[0],
    },
    {
        .struct_size = sizeof(struct graft_conversion),
        .n_sources = 1,
        .sources = down_sources,
        .n_targets = 1,
        .targets = down_targets,
        .n_operations = 1,
        .operations = cut_down,
        .operation_stride = sizeof cut_down[0],
    },
};

/* --- Descriptor --- */

static const struct graft_class moe_mlp = {GRAFT_PARTS_EXPERT_CLASS("MoeMLP")};

static const struct graft_parts_expert_list list = {"MoeMLP"};

static const struct graft_class module_list_experts = {
    GRAFT_PARTS_CLASS("ModuleListExperts", GRAFT_INTERFACE_EXPERTS, graft_parts_expert_list),
    .flags = GRAFT_CLASS_SAME_ANYWHERE,
    .data = &list,
    GRAFT_CLASS_CONVERSIONS(conversions),
};

/* Tensors of experts that this plugin does not replace: experts with biases, whose layout differs (gpt_oss: inputs
 * before outputs, gate and up alternating), and adapters for stacks. */
static const char *const foreign[] = {"gate_up_proj_bias", "adapter.*.lora_A.weight",
                                      "adapter.*.base_layer.lora_A.weight", NULL};
static const char *const ungated[] = {"nemotron_h", NULL};
/* Experts that are not gated like MoeMLP, or not gated at all, are recognised by these conditions. */
static const struct graft_condition is_known[] = {
    {sizeof is_known[0], GRAFT_CONDITION_NO_TENSOR, NULL, foreign},
    {sizeof is_known[0], GRAFT_CONDITION_NO_CONFIG, "swiglu_limit", NULL},
    {sizeof is_known[0], GRAFT_CONDITION_NO_CONFIG, "model_type", ungated},
};

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_PATTERN,
        .target = "Experts$", /* Qwen2MoeExperts, MixtralExperts, ...: classes of the interface graft.experts/1 */
        .replacement = &module_list_experts,
        .conditions = is_known,
        .n_conditions = 3,
        .condition_stride = sizeof is_known[0],
    },
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "sequential_experts",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Experts as a list of MLPs instead of stacked parameters",
    .replacements = replacements,
    .n_replacements = 1,
    .replacement_stride = sizeof replacements[0],
    .classes = &moe_mlp,
    .n_classes = 1,
    .class_stride = sizeof moe_mlp,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
