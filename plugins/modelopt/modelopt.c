/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of checkpoints by NVIDIA's Model Optimizer (quant_method "modelopt"), used in place: F8_E4M3 weights with one
 * scale ("FP8"), and E2M1 with an F8_E4M3 scale for each 16 inputs and a common factor ("NVFP4"). config.json says
 * which formats a checkpoint has, and the tensors which one a module has. Activations and the key-value cache are not
 * quantized: scales for them are kept but not used. */
#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/plugin.h"
#include "graft/quant_format.h"

enum { GROUP = 16 };

#define FIELD(name) "quantization_config." name

/* The `data` of a class: the quant_algo names that it handles. Checkpoints of mixed algorithms use both classes. */
struct format {
    const char *algorithms[2];
    int32_t is_float4;
};

static const struct format fp8 = {.algorithms = {"FP8", "FP8"}};
static const struct format nvfp4 = {.algorithms = {"NVFP4", "W4A16_NVFP4"}, .is_float4 = 1};

/* --- Fields of config.json --- */

static int is_of(const struct format *format, const char *algorithm) {
    return strcmp(algorithm, format->algorithms[0]) == 0 || strcmp(algorithm, format->algorithms[1]) == 0;
}

static int check_algorithm(const struct format *format, const struct graft_config *config, const char *path,
                           struct graft_error *error) {
    static const char field[] = FIELD("quant_algo");
    const char *algorithm = "";
    graft_config_string(config, field, &algorithm, error);
    if (error->code != GRAFT_OK || is_of(format, algorithm) || strcmp(algorithm, "MIXED_PRECISION") == 0) {
        return error->code;
    }
    return is_of(&fp8, algorithm) || is_of(&nvfp4, algorithm)
               ? graft_error_set(error, GRAFT_ERROR_MODEL, path, "%s tensor \"weight_scale_2\", but %s has %s: \"%s\"",
                                 format->is_float4 ? "there is a" : "no", config->file, field, algorithm)
               : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: expected \"FP8\", \"NVFP4\", \"W4A16_NVFP4\" or \"MIXED_PRECISION\", got \"%s\"",
                                 field, algorithm);
}

/* Adds a tensor that a module may lack. Some joined modules may have it and others not. */
static void add_optional(struct graft_scheme *scheme, const char *name, int64_t length) {
    struct graft_parameter_info *info = graft_scheme_add(scheme, GRAFT_CODED_OTHER, name, GRAFT_DTYPE_NONE, 1, &length);
    info->flags = GRAFT_PARAMETER_SCALAR | GRAFT_PARAMETER_ANY_LENGTH;
    info->init = GRAFT_INIT_ABSENT;
    info->join = graft_join_whole(GRAFT_JOIN_EACH);
    info->inputs = graft_join_whole(GRAFT_JOIN_EQUAL);
}

static void add_weight(struct graft_scheme *scheme, int32_t is_float4) {
    struct graft_codec *codec = &scheme->codec;
    codec->kind = is_float4 ? GRAFT_CODE_FLOAT4 : GRAFT_CODE_FLOAT8;
    codec->bits = is_float4 ? 4 : 8;
    codec->block_rows = is_float4 ? 1 : codec->rows;
    codec->group_size = is_float4 ? GROUP : codec->columns;
    graft_scheme_codes(scheme, "weight", graft_codec_row_bytes(codec),
                       is_float4 ? GRAFT_DTYPE_U8 : GRAFT_DTYPE_F8_E4M3);
    if (is_float4) {
        graft_scheme_scales(scheme, "weight_scale", GRAFT_DTYPE_F8_E4M3);
        graft_scheme_number(scheme, GRAFT_CODED_FACTOR, "weight_scale_2", GRAFT_DTYPE_F32, GRAFT_JOIN_EQUAL);
    } else {
        graft_scheme_number(scheme, GRAFT_CODED_SCALES, "weight_scale", GRAFT_DTYPE_NONE, GRAFT_JOIN_EQUAL);
    }
}

static int refuse_scaled_inputs(const struct graft_build *build, const void *context, struct graft_codec *codec,
                                struct graft_error *error) {
    (void)context;
    (void)codec;
    return build->weight(build->data, "pre_quant_scale") == NULL
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                                 "pre_quant_scale: inputs that are scaled beforehand are not read by this plugin");
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct format *format = cls->data;
    struct graft_scheme scheme;
    graft_scheme_of_linear(&scheme, args, sink->path, error);
    check_algorithm(format, config, sink->path, error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    add_weight(&scheme, format->is_float4);
    add_optional(&scheme, "input_scale", 1);
    add_optional(&scheme, "k_scale", 1);
    add_optional(&scheme, "v_scale", 1);
    add_optional(&scheme, "pre_quant_scale", scheme.codec.columns);
    scheme.finish = refuse_scaled_inputs;
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

#define LINEAR_CLASS(class_name, format)                                                    \
    {                                                                                       \
        .struct_size = sizeof(struct graft_class), .name = (class_name), .data = &(format), \
        .interface_id = GRAFT_INTERFACE_LINEAR, .describe = describe,                       \
    }

static const struct graft_class fp8_class = LINEAR_CLASS("ModelOptFP8Linear", fp8);
static const struct graft_class nvfp4_class = LINEAR_CLASS("ModelOptNVFP4Linear", nvfp4);

/* Checkpoints of this method store each expert's Linears separately, so the experts are a list of modules. */
GRAFT_PARTS_LISTED_EXPERT_CLASSES("ModelOptMoeMLP", "ModelOptExperts");

/* --- Replacements --- */

static const char *const methods[] = {"modelopt", NULL};
static const char *const scale[] = {"weight_scale", NULL};
static const char *const factor[] = {"weight_scale_2", NULL};
static const char *const expert_scales[] = {"0.gate_proj.weight_scale", "0.w1.weight_scale", NULL};

static const struct graft_condition of_fp8[] = {GRAFT_SCHEME_IS_METHOD(methods),
                                                GRAFT_SCHEME_HAS_TENSOR(scale),
                                                {sizeof of_fp8[0], GRAFT_CONDITION_NO_TENSOR, NULL, factor}};
static const struct graft_condition of_nvfp4[] = {GRAFT_SCHEME_IS_METHOD(methods), GRAFT_SCHEME_HAS_TENSOR(factor)};
static const struct graft_condition of_experts[] = {GRAFT_SCHEME_IS_METHOD(methods),
                                                    GRAFT_SCHEME_HAS_TENSOR(expert_scales)};

static const struct graft_replacement replacements[] = {
    GRAFT_SCHEME_LINEARS(&fp8_class, of_fp8),
    GRAFT_SCHEME_LINEARS(&nvfp4_class, of_nvfp4),
    {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, of_experts)},
};

static const struct graft_field_rule field_rules[] = {
    /* Fields that the tensors imply: which modules are quantized, and how. */
    {.name = "quantization_config.config_groups.*.targets"},
    {.name = "quantization_config.config_groups.*.weights"},
    {.name = "quantization_config.exclude_modules"},
    {.name = "quantization_config.ignore"},
    {.name = "quantization_config.producer"},
    /* Activations, keys and values are not quantized here (README.md). */
    {.name = "quantization_config.config_groups.*.input_activations"},
    {.name = "quantization_config.kv_cache_quant_algo"},
    {.name = "quantization_config.kv_cache_scheme"},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "modelopt",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of NVIDIA's FP8 and NVFP4 checkpoints, multiplied as they are stored",
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
