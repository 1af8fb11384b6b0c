/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of HQQ checkpoints (quant_method "hqq"): codes of 2, 3, 4 or 8 bits in strips, and for each group of inputs a
 * scale and a zero point, which need not be an integer. Further tensors say how each module was quantized; tensors.c
 * compares them with the config. */
#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/plugin.h"
#include "tensors.h"

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    struct hqq_params params = {0};
    (void)cls;
    graft_scheme_of_linear(&scheme, args, sink->path, error);
    if (error->code == GRAFT_OK) {
        params.columns = scheme.codec.columns;
        hqq_read_params(config, sink->config_path, &params, error);
    }
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    scheme.finish = hqq_check_tensors;
    scheme.context = &params;
    scheme.context_bytes = sizeof params;
    hqq_add_tensors(&scheme, &params);
    graft_scheme_describe_linear(&scheme, args, sink, error);
    hqq_describe_notes(sink, error);
    return error->code;
}

static const struct graft_class hqq_linear_class = GRAFT_SCHEME_LINEAR_CLASS("HQQLinear", describe);

/* Checkpoints of this method store each expert's Linears separately, so the experts are a list of modules. */
GRAFT_PARTS_LISTED_EXPERT_CLASSES("HQQMoeMLP", "HQQExperts");

static const char *const methods[] = {"hqq", NULL};
static const char *const codes[] = {"W_q", NULL};
static const char *const expert_codes[] = {"0.gate_proj.W_q", "0.w1.W_q", NULL};

static const struct graft_condition if_linear[] = {GRAFT_SCHEME_IS_METHOD(methods), GRAFT_SCHEME_HAS_TENSOR(codes)};
static const struct graft_condition if_experts[] = {GRAFT_SCHEME_IS_METHOD(methods),
                                                    GRAFT_SCHEME_HAS_TENSOR(expert_codes)};

static const struct graft_replacement replacements[] = {GRAFT_SCHEME_LINEARS(&hqq_linear_class, if_linear),
                                                        {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, if_experts)}};

static const struct graft_field_rule field_rules[] = {
    /* The tensors show which modules are quantized, so lists of names are not needed. */
    {.name = "quantization_config.skip_modules"},
    /* Fields that say how the numbers were found, and parameters of modules that do not exist or are not quantized. */
    {.name = "quantization_config.quant_config"},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "hqq",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of HQQ checkpoints, 2, 3, 4 or 8 bits with zero points that are any numbers",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .classes = &expert_class,
    .n_classes = 1,
    .class_stride = sizeof expert_class,
    .quant_methods = methods,
    GRAFT_FIELD_RULES(field_rules),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
