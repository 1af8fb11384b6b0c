/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of checkpoints quantized by bitsandbytes (quant_method "bitsandbytes"), to 4 or 8 bits. */
#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/plugin.h"
#include "linear.h"
#include "quant_state.h"
#include "quantize.h"

#define FIELD(name) "quantization_config." name

/* Checkpoints of this method store each expert's Linears separately, so the experts are a list of modules. */
GRAFT_PARTS_LISTED_EXPERT_CLASSES("BitsAndBytesMoeMLP", "BitsAndBytesExperts");

static const char *const methods[] = {"bitsandbytes", NULL};
static const char *const of_4bit[] = {"weight.absmax", NULL};
static const char *const of_8bit[] = {"SCB", NULL};
static const char *const of_experts[] = {"0.gate_proj.weight.absmax", "0.w1.weight.absmax", "0.gate_proj.SCB",
                                         "0.w1.SCB", NULL};

static const char *const yes[] = {"true", NULL};

#define CONDITION_YES(field) \
    { sizeof(struct graft_condition), GRAFT_CONDITION_CONFIG, field, yes }

static const struct graft_condition if_4bit[] = {GRAFT_SCHEME_IS_METHOD(methods), CONDITION_YES(FIELD("load_in_4bit")),
                                                 GRAFT_SCHEME_HAS_TENSOR(of_4bit)};
static const struct graft_condition if_8bit[] = {GRAFT_SCHEME_IS_METHOD(methods), CONDITION_YES(FIELD("load_in_8bit")),
                                                 GRAFT_SCHEME_HAS_TENSOR(of_8bit)};
static const struct graft_condition if_experts[] = {GRAFT_SCHEME_IS_METHOD(methods),
                                                    GRAFT_SCHEME_HAS_TENSOR(of_experts)};

static const struct graft_replacement replacements[] = {
    GRAFT_SCHEME_LINEARS(&bnb_linear4bit_class, if_4bit),
    GRAFT_SCHEME_LINEARS(&bnb_linear8bit_class, if_8bit),
    {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, if_experts)},
};

static const char *const required[] = {GRAFT_JSON_ID, NULL};

static const struct graft_host *host;

static int init(struct graft_error *error) {
    (void)error;
    bnb_set_json(host->get_extension(GRAFT_JSON_ID));
    return GRAFT_OK;
}

static const struct graft_field_rule field_rules[] = {
    /* The tensors show which modules are quantized, and how. Activations are not quantized here (README.md). */
    {.name = "quantization_config._load_in_4bit"},
    {.name = "quantization_config._load_in_8bit"},
    {.name = "quantization_config.bnb_4bit_compute_dtype"},
    {.name = "quantization_config.bnb_4bit_quant_storage"},
    {.name = "quantization_config.bnb_4bit_quant_type"},
    {.name = "quantization_config.bnb_4bit_use_double_quant"},
    {.name = "quantization_config.llm_int8_enable_fp32_cpu_offload"},
    {.name = "quantization_config.llm_int8_has_fp16_weight"},
    {.name = "quantization_config.llm_int8_skip_modules"},
    {.name = "quantization_config.llm_int8_threshold"},
    {.name = "quantization_config.load_in_4bit"},
    {.name = "quantization_config.load_in_8bit"},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "bitsandbytes",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of bitsandbytes checkpoints, NF4, FP4 or 8 bits, multiplied as they are stored",
    .requires_extensions = required,
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .classes = &expert_class,
    .n_classes = 1,
    .class_stride = sizeof expert_class,
    .init = init,
    .quant_methods = methods,
    GRAFT_FIELD_RULES(field_rules),
    .quantizations = bnb_quantizations,
    .n_quantizations = BNB_QUANTIZATIONS,
    .quantization_stride = sizeof(struct graft_quantization),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
