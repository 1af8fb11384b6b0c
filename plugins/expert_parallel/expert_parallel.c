/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the experts of a mixture among processes: by their number, or each by its width. All ranks sum their results
 * once for each block; everything else is in every process. */
#include "expert_parallel.h"

#include <string.h>

#include "graft/option.h"
#include "graft/plugin.h"

static const struct graft_plugin plugin;
static const struct graft_host *host;

const struct graft_parallel *expert_parallel_ranks(void) {
    return host->get_extension(GRAFT_PARALLEL_ID);
}

int expert_parallel_by_width(void) {
    return strcmp(graft_args_string(host->options(&plugin), "divide", "experts"), "width") == 0;
}

/* Conditions for slicing the tensors of experts: the names are known, and neither a quantization nor an adapter has
 * further tensors that name experts by number. */
static const char *const known[] = {"gate_up_proj", "0.gate_proj.weight", "0.w1.weight", NULL};
static const struct graft_condition conditions[] = {
    {sizeof conditions[0], GRAFT_CONDITION_NO_CONFIG, "quantization_config", NULL},
    {sizeof conditions[0], GRAFT_CONDITION_NO_CONFIG, "adapters", NULL},
    {sizeof conditions[0], GRAFT_CONDITION_TENSOR, NULL, known},
};
enum { OF_BLOCKS = 2, OF_EXPERTS = 3 };

/* Quantized experts whose stacks can be sliced as well: MXFP4. */
static const char *const stacks[] = {"gate_up_proj_blocks", NULL};
static const struct graft_condition stacked[] = {
    {sizeof stacked[0], GRAFT_CONDITION_NO_CONFIG, "adapters", NULL},
    {sizeof stacked[0], GRAFT_CONDITION_TENSOR, NULL, stacks},
};

/* Other quantized experts, whose Linears are handled one by one. */
static const struct graft_condition quantized = {sizeof quantized, GRAFT_CONDITION_CONFIG, "quantization_config", NULL};

/* Families whose blocks contain only experts and shared experts: the block sums over the ranks. In other families the
 * experts do. */
static const char *const families[] = {"mixtral",     "qwen2_moe",   "qwen3_moe", "qwen3_next",
                                       "deepseek_v2", "deepseek_v3", NULL};
#define SHARED_EXPERT "\\.shared_experts?$"

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_PATTERN,
        .target = ".",
        .replacement = &expert_parallel_part,
        .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_ON_REQUEST,
        .conditions = conditions,
        .n_conditions = OF_EXPERTS,
        .condition_stride = sizeof conditions[0],
    },
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_PATTERN,
        .target = ".",
        .replacement = &expert_parallel_part,
        .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_ON_REQUEST,
        .conditions = stacked,
        .n_conditions = 2,
        .condition_stride = sizeof stacked[0],
    },
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_NAME,
        .target = "Linear",
        .replacement = &expert_parallel_linear,
        .module_path = "\\.experts\\.[0-9]+\\.",
        .flags = GRAFT_REPLACEMENT_ON_REQUEST,
        .conditions = &quantized,
        .n_conditions = 1,
        .condition_stride = sizeof quantized,
    },
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_PATTERN,
        .target = ".",
        .replacement = &expert_parallel_whole,
        .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_ON_REQUEST,
    },
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_PATTERN,
        .target = "(MoeBlock|MoE|Moe)$",
        .replacement = &expert_parallel_block,
        .model_types = families,
        .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_ON_REQUEST,
        .conditions = conditions,
        .n_conditions = OF_BLOCKS,
        .condition_stride = sizeof conditions[0],
    },
    {
        .struct_size = sizeof(struct graft_replacement),
        .key = GRAFT_KEY_PATTERN,
        .target = "MLP$",
        .replacement = &expert_parallel_shared,
        .module_path = SHARED_EXPERT,
        .model_types = families,
        .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS | GRAFT_REPLACEMENT_ON_REQUEST,
        .conditions = conditions,
        .n_conditions = OF_BLOCKS,
        .condition_stride = sizeof conditions[0],
    },
};

static const char *const divisions[] = {"experts", "width", NULL};
static const struct graft_option option = {
    .struct_size = sizeof option,
    .kind = GRAFT_OPTION_STRING,
    .name = "divide",
    .help = "What is divided: the experts, a run of them for each process, or the width of each expert",
    .default_value = "experts",
    .choices = divisions,
};

/* Ends of the paths of modules that are divided here, for another plugin that would divide them as well. */
#define DIVIDED "expert_parallel.divided/1"
static const char *const divided[] = {".shared_expert", ".shared_experts", NULL};

static const void *get_extension(const char *id) {
    return strcmp(id, DIVIDED) == 0 ? divided : NULL;
}

static const char *const required[] = {GRAFT_PARALLEL_ID, NULL};
static const char *const offered[] = {DIVIDED, NULL};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "expert_parallel",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Divides the experts of a mixture among the processes that run it",
    .requires_extensions = required,
    .offers_extensions = offered,
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .get_extension = get_extension,
    .options = &option,
    .n_options = 1,
    .option_stride = sizeof option,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
