/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/plugin.h"
#include "field_rules.h"

#include "graft/option.h"
#include "graft/threads.h"

#include "adapters.h"
#include "lora.h"
#include "stored.h"
#include "targets.h"

/* Tensors that adapters may have for a module. */
#define OF_TOKENS "adapter.*.token_adapter.trainable_tokens_delta"
static const char *const of_linears[] = {"adapter.*.lora_A.weight", "adapter.*.lora_B.weight",
                                         "adapter.*.weight",        OF_TOKENS,
                                         "adapter.*.hada_w1_a",     "adapter.*.lokr_w1",
                                         "adapter.*.lokr_w1_b",     "adapter.*.vera_lambda_d",
                                         "adapter.*.ia3_l",         NULL};
static const char *const of_embeddings[] = {"adapter.*.lora_embedding_A", "adapter.*.lora_embedding_B",
                                            "adapter.*.weight", OF_TOKENS, NULL};

/* Tensors of an adapter for experts: those of a stack, or those of expert 0, since PEFT adapts all experts or none. */
static const char *const of_experts[] = {
    "adapter.*.lora_A.weight",           "adapter.*.base_layer.lora_A.weight",  "adapter.*.0.gate_proj.lora_A.weight",
    "adapter.*.0.up_proj.lora_A.weight", "adapter.*.0.down_proj.lora_A.weight", "adapter.*.0.w1.lora_A.weight",
    "adapter.*.0.w3.lora_A.weight",      "adapter.*.0.w2.lora_A.weight",        NULL};

static const struct graft_condition where_adapted[][2] = {
    {
        {sizeof where_adapted[0][0], GRAFT_CONDITION_CONFIG, "adapters", NULL},
        {sizeof where_adapted[0][0], GRAFT_CONDITION_TENSOR, NULL, of_linears},
    },
    {
        {sizeof where_adapted[0][0], GRAFT_CONDITION_CONFIG, "adapters", NULL},
        {sizeof where_adapted[0][0], GRAFT_CONDITION_TENSOR, NULL, of_embeddings},
    },
    {
        {sizeof where_adapted[0][0], GRAFT_CONDITION_CONFIG, "adapters", NULL},
        {sizeof where_adapted[0][0], GRAFT_CONDITION_TENSOR, NULL, of_experts},
    },
};

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_NAME,
        .target = "Linear",
        .replacement = &lora_linear_class,
        .conditions = where_adapted[0],
        .n_conditions = 2,
        .condition_stride = sizeof where_adapted[0][0],
    },
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_NAME,
        .target = "Embedding",
        .replacement = &lora_embedding_class,
        .conditions = where_adapted[1],
        .n_conditions = 2,
        .condition_stride = sizeof where_adapted[0][0],
    },
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_PATTERN,
        .target = "Experts$",
        .replacement = &lora_experts_class,
        .conditions = where_adapted[2],
        .n_conditions = 2,
        .condition_stride = sizeof where_adapted[0][0],
    },
};

static const char *const dtypes[] = {"auto", "bfloat16", NULL};

static const struct graft_option options[] = {
    {
        .struct_size = sizeof options[0],
        .kind = GRAFT_OPTION_BOOL,
        .name = "merge",
        .help = "Adds a single adapter to the weights while the model is loaded, where those are floats",
        .default_value = "false",
    },
    {
        .struct_size = sizeof options[0],
        .kind = GRAFT_OPTION_STRING,
        .name = "dtype",
        .help = "What adapters are kept as: auto, as they are stored; bfloat16, rounded while they are loaded",
        .default_value = "auto",
        .choices = dtypes,
    },
};

static const char *const required[] = {GRAFT_REGEX_ID, GRAFT_THREADS_ID, NULL};

static struct graft_class classes[4];
static const struct graft_plugin plugin;
static const struct graft_host *host;

static int init(struct graft_error *error) {
    (void)error;
    lora_set_regexes(host->get_extension(GRAFT_REGEX_ID));
    lora_set_rounding(strcmp(graft_args_string(host->options(&plugin), "dtype", ""), "bfloat16") == 0);
    lora_set_merging((int32_t)graft_args_int(host->options(&plugin), "merge", 0),
                     host->get_extension(GRAFT_THREADS_ID));
    return GRAFT_OK;
}

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "lora",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Adapters of PEFT (--adapter): LoRA, DoRA, IA3, LoHa, LoKr, VeRA, around quantized weights, too",
    .requires_extensions = required,
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .class_stride = sizeof classes[0],
    .init = init,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .option_stride = sizeof options[0],
    GRAFT_FIELD_RULES(lora_field_rules),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    classes[0] = lora_pair_class;
    classes[1] = lora_embedding_pair_class;
    classes[2] = lora_experts_pairs_class;
    classes[3] = lora_scale_class;
    return &plugin;
}
