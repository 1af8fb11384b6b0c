/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of FP8 checkpoints (quant_method "fp8", "fbgemm_fp8" and "mxfp8"): F8_E4M3 weights, used in place, with a
 * scale for each block of `weight_block_size`, for each row, or for the whole weight. The last blocks of rows and
 * columns may be smaller. Activations are not quantized: a checkpoint's scale for them is kept but not used. */
#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/plugin.h"
#include "graft/quant_format.h"
#include "graft/quantization_fields.h"
#include "quantize.h"

enum { MAX_SIZE = 1 << 30, MX_GROUP = 32 };

#define FIELD(name) "quantization_config." name

static const char *const methods[] = {"fp8", "fbgemm_fp8", "mxfp8", NULL};

static int is_method(const struct graft_config *config, const char *name) {
    const char *method = config->string(config->data, FIELD("quant_method"));
    return method != NULL && strcmp(method, name) == 0;
}

/* Sets what shares a scale if no field says so: groups of 32 inputs, rows, or the whole weight, depending on the
 * method. */
static void set_blocks(const struct graft_config *config, struct graft_codec *codec) {
    const int is_mx = is_method(config, "mxfp8");
    codec->block_rows = is_mx || is_method(config, "fbgemm_fp8") ? 1 : codec->rows;
    codec->group_size = is_mx ? MX_GROUP : codec->columns;
}

/* Refuses fields that ask for another layout, or for another way to round activations. */
static int check_layout(const struct graft_config *config, struct graft_error *error) {
    static const struct {
        const char *name;
        const char *allowed[3];
    } fields[] = {{"fmt", {"e4m3", "float8_e4m3fn"}},
                  {"activation_scheme", {"dynamic", "static"}},
                  {"scale_fmt", {"float", "ue8m0"}},
                  {"expert_dtype", {"fp8"}}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        graft_quantization_only(config, fields[i].name, fields[i].allowed, error);
    }
    return error->code;
}

static int read_config(const struct graft_config *config, struct graft_codec *codec, struct graft_error *error) {
    static const char field[] = FIELD("weight_block_size");
    if (check_layout(config, error) != GRAFT_OK || !graft_config_has(config, field)) {
        set_blocks(config, codec);
        return error->code;
    }
    if (config->kind(config->data, field) != GRAFT_FIELD_ARRAY || config->size(config->data, field) != 2) {
        return graft_config_expected(config, field, "an array of rows and columns", error);
    }
    graft_config_need_int(config, FIELD("weight_block_size.0"), 1, MAX_SIZE, &codec->block_rows, error);
    graft_config_need_int(config, FIELD("weight_block_size.1"), 1, MAX_SIZE, &codec->group_size, error);
    return error->code;
}

static int is_static(const struct graft_config *config) {
    const char *scheme = config->string(config->data, FIELD("activation_scheme"));
    char lower[GRAFT_QUANTIZATION_TEXT] = "";
    if (scheme != NULL) {
        graft_quantization_lower(scheme, lower);
    }
    return strcmp(lower, "static") == 0;
}

/* `weight_scale_inv` has two dimensions if there are blocks, even a single one; for MXFP8 its type is E8M0. */
static void add_scales(struct graft_scheme *scheme, const struct graft_config *config) {
    if (is_method(config, "fp8") && !graft_config_has(config, FIELD("weight_block_size"))) {
        graft_scheme_number(scheme, GRAFT_CODED_SCALES, "weight_scale_inv", GRAFT_DTYPE_NONE, GRAFT_JOIN_EQUAL);
    } else {
        graft_scheme_scales(scheme, "weight_scale_inv", is_method(config, "mxfp8") ? GRAFT_DTYPE_U8 : GRAFT_DTYPE_NONE);
    }
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    (void)cls;
    graft_scheme_of_linear(&scheme, args, sink->path, error);
    read_config(config, &scheme.codec, error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    scheme.codec.kind = GRAFT_CODE_FLOAT8;
    scheme.codec.bits = 8;
    graft_scheme_codes(&scheme, "weight", scheme.codec.columns, GRAFT_DTYPE_F8_E4M3);
    add_scales(&scheme, config);
    if (is_static(config)) {
        graft_scheme_number(&scheme, GRAFT_CODED_OTHER, "activation_scale", GRAFT_DTYPE_NONE, GRAFT_JOIN_EACH);
    }
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

/* Names of the scales in checkpoints of other tools. */
static const char *const scale[] = {"weight_scale"};
static const char *const scale_inv[] = {"weight_scale_inv"};
static const char *const input_scale[] = {"input_scale"};
static const char *const activation_scale[] = {"activation_scale"};

static const struct graft_conversion conversions[] = {
    GRAFT_RENAMING(scale, scale_inv),
    GRAFT_RENAMING(input_scale, activation_scale),
};

static const struct graft_class fp8_linear_class = {
    .struct_size = sizeof fp8_linear_class,
    .name = "FP8Linear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .conversions = conversions,
    .n_conversions = sizeof conversions / sizeof conversions[0],
    .conversion_stride = sizeof conversions[0],
};

/* Checkpoints of this method store each expert's Linears separately, so the experts are a list of modules. */
GRAFT_PARTS_LISTED_EXPERT_CLASSES("FP8MoeMLP", "FP8Experts");

static const char *const scales[] = {"weight_scale_inv", "weight_scale", NULL};

static const char *const expert_scales[] = {"0.gate_proj.weight_scale_inv", "0.gate_proj.weight_scale",
                                            "0.w1.weight_scale_inv", "0.w1.weight_scale", NULL};

static const struct graft_condition if_linear[] = {GRAFT_SCHEME_IS_METHOD(methods), GRAFT_SCHEME_HAS_TENSOR(scales)};
static const struct graft_condition if_experts[] = {GRAFT_SCHEME_IS_METHOD(methods),
                                                    GRAFT_SCHEME_HAS_TENSOR(expert_scales)};

static const struct graft_replacement replacements[] = {GRAFT_SCHEME_LINEARS(&fp8_linear_class, if_linear),
                                                        {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, if_experts)}};

static const struct graft_field_rule field_rules[] = {
    /* The tensors show which modules are quantized, so lists of names are not needed. */
    {.name = "quantization_config.ignored_layers"},
    {.name = "quantization_config.modules_to_not_convert"},
    /* The tensors show the type of the scales. Activations are not quantized here (README.md). */
    {.name = "quantization_config.activation_scale_ub"},
    {.name = "quantization_config.dequantize"},
    {.name = "quantization_config.scale_fmt"},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "fp8",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of FP8 checkpoints, scaled by blocks, rows or as a whole, multiplied as they are stored",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .classes = &expert_class,
    .n_classes = 1,
    .class_stride = sizeof expert_class,
    .quant_methods = methods,
    GRAFT_FIELD_RULES(field_rules),
    .quantizations = fp8_quantizations,
    .n_quantizations = FP8_QUANTIZATIONS,
    .quantization_stride = sizeof(struct graft_quantization),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
