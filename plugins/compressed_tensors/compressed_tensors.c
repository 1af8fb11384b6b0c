/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of compressed-tensors checkpoints, used in place: 4 and 8-bit integers packed in words (format
 * "pack-quantized"), int8 ("int-quantized"), F8_E4M3 ("float-quantized") and float4 ("mxfp4-pack-quantized",
 * "nvfp4-pack-quantized"). Activations are not quantized: a checkpoint's scale for them is kept but not used. */
#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/plugin.h"
#include "graft/quant_format.h"
#include "quantize.h"
#include "scheme.h"

static const struct graft_host *host;
static const struct graft_regexes *regexes;
static int32_t input_bits;

/* The shape of the stored weight, of which the module may be a part; checked against `weight_shape`. */
struct shape {
    int64_t rows;
    int64_t columns;
};

/* Sets which weights share a scale. */
static int set_groups(const struct ct_scheme *scheme, struct graft_codec *codec, const char *path,
                      struct graft_error *error) {
    const int64_t slots = 32 / codec->bits;
    codec->block_rows = scheme->strategy == CT_TENSOR  ? codec->rows
                        : scheme->strategy == CT_BLOCK ? scheme->block[0]
                                                       : 1;
    codec->group_size = ct_has_groups(scheme)          ? scheme->group_size
                        : scheme->strategy == CT_BLOCK ? scheme->block[1]
                                                       : codec->columns;
    return ct_has_words(scheme) && graft_codec_groups(codec) > 1 && !scheme->is_ordered &&
                   codec->group_size % slots != 0
               ? graft_error_set(error, GRAFT_ERROR_MODEL, path, "groups of %lld inputs do not fill words of 32 bits",
                                 (long long)codec->group_size)
               : GRAFT_OK;
}

static void add_words(const struct ct_scheme *from, struct graft_scheme *scheme) {
    static const int64_t two = 2;
    struct graft_codec *codec = &scheme->codec;
    codec->zero = from->is_asymmetric ? 0 : 1 << (codec->bits - 1);
    graft_scheme_codes(scheme, "weight_packed", (codec->columns * codec->bits + 31) / 32, GRAFT_DTYPE_I32);
    struct graft_parameter_info *shape =
        graft_scheme_add(scheme, GRAFT_CODED_OTHER, "weight_shape", GRAFT_DTYPE_I64, 1, &two);
    shape->flags = GRAFT_PARAMETER_CONTIGUOUS;
    shape->join = graft_join_whole(GRAFT_JOIN_EACH);
    shape->inputs = graft_join_whole(GRAFT_JOIN_EQUAL);
    if (from->is_asymmetric) {
        graft_scheme_zeros(scheme, "weight_zero_point");
    }
    if (from->is_ordered) {
        struct graft_parameter_info *index =
            graft_scheme_add(scheme, GRAFT_CODED_GROUP_INDEX, "weight_g_idx", GRAFT_DTYPE_I32, 1, &codec->columns);
        index->flags = GRAFT_PARAMETER_CONTIGUOUS;
        index->join = graft_join_whole(GRAFT_JOIN_EQUAL);
    }
}

/* Scales are powers of two or, with a divisor for the whole tensor, F8_E4M3. Projections with different divisors are
 * not joined. */
static void add_float4(const struct ct_scheme *from, struct graft_scheme *scheme) {
    const int has_divisor = from->strategy == CT_TENSOR_GROUP;
    graft_scheme_codes(scheme, "weight_packed", graft_codec_row_bytes(&scheme->codec), GRAFT_DTYPE_U8);
    graft_scheme_scales(scheme, "weight_scale", has_divisor ? GRAFT_DTYPE_F8_E4M3 : GRAFT_DTYPE_U8);
    if (has_divisor) {
        graft_scheme_number(scheme, GRAFT_CODED_DIVISOR, "weight_global_scale", GRAFT_DTYPE_F32, GRAFT_JOIN_EQUAL);
    }
}

static void add_tensors(const struct ct_scheme *from, struct graft_scheme *scheme) {
    if (from->kind == GRAFT_CODE_FLOAT4) {
        add_float4(from, scheme);
    } else if (ct_has_words(from)) {
        add_words(from, scheme);
    } else {
        graft_scheme_codes(scheme, "weight", scheme->codec.columns,
                           from->kind == GRAFT_CODE_INT ? GRAFT_DTYPE_I8 : GRAFT_DTYPE_F8_E4M3);
    }
    if (from->kind != GRAFT_CODE_FLOAT4 && from->strategy == CT_TENSOR) {
        graft_scheme_number(scheme, GRAFT_CODED_SCALES, "weight_scale", GRAFT_DTYPE_NONE, GRAFT_JOIN_EQUAL);
    } else if (from->kind != GRAFT_CODE_FLOAT4) {
        graft_scheme_scales(scheme, "weight_scale", GRAFT_DTYPE_NONE);
    }
    if (from->input_scale != NULL) {
        graft_scheme_number(scheme, GRAFT_CODED_OTHER, from->input_scale, GRAFT_DTYPE_NONE, GRAFT_JOIN_EACH);
    }
}

/* Checks `weight_shape`, since the last word of a row may be only partly used. Joined modules have one each. */
static int check_shape(const struct graft_build *build, const void *context, struct graft_codec *codec,
                       struct graft_error *error) {
    const struct shape *whole = context;
    const struct graft_weight *weight = graft_build_weight(build, "weight_shape", error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    const int64_t *shape = graft_weight_block(weight, 0)->data;
    int64_t outputs = 0, inputs = whole->columns;
    (void)codec;
    for (int64_t i = 0; i < weight->rows / 2; i++) {
        outputs += shape[2 * i] > 0 && shape[2 * i] <= whole->rows ? shape[2 * i] : INT32_MAX;
        inputs = shape[2 * i + 1] != whole->columns ? shape[2 * i + 1] : inputs;
    }
    return outputs == whole->rows && inputs == whole->columns
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                                 "weight_shape: expected [%lld, %lld], got [%lld, %lld]", (long long)whole->rows,
                                 (long long)whole->columns, (long long)shape[0], (long long)shape[1]);
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    struct ct_scheme read;
    (void)cls;
    graft_scheme_of_linear(&scheme, args, sink->path, error);
    ct_scheme_read(config, regexes, sink->config_path, &read, error);
    if (error->code == GRAFT_OK) {
        scheme.codec.kind = read.kind;
        scheme.codec.bits = read.bits;
        scheme.codec.input_bits = input_bits;
        set_groups(&read, &scheme.codec, sink->path, error);
    }
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    const struct shape whole = {graft_args_int(args, "whole_out_features", scheme.codec.rows),
                                graft_args_int(args, "whole_in_features", scheme.codec.columns)};
    if (ct_has_words(&read)) {
        scheme.finish = check_shape;
        scheme.context = &whole;
        scheme.context_bytes = sizeof whole;
    }
    add_tensors(&read, &scheme);
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

static const struct graft_class compressed_linear_class = GRAFT_SCHEME_LINEAR_CLASS("CompressedLinear", describe);

/* Checkpoints of this method store each expert's Linears separately, so the experts are a list of modules. */
GRAFT_PARTS_LISTED_EXPERT_CLASSES("CompressedMoeMLP", "CompressedExperts");

static const char *const methods[] = {"compressed-tensors", NULL};
static const char *const tensors[] = {"weight_scale", NULL};

static const char *const expert_tensors[] = {"0.gate_proj.weight_scale", "0.w1.weight_scale", NULL};

static const struct graft_condition if_linear[] = {GRAFT_SCHEME_IS_METHOD(methods), GRAFT_SCHEME_HAS_TENSOR(tensors)};
static const struct graft_condition if_experts[] = {GRAFT_SCHEME_IS_METHOD(methods),
                                                    GRAFT_SCHEME_HAS_TENSOR(expert_tensors)};

static const struct graft_replacement replacements[] = {GRAFT_SCHEME_LINEARS(&compressed_linear_class, if_linear),
                                                        {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, if_experts)}};

static const struct graft_option options[] = {{GRAFT_ACTIVATION_BITS("16")}};

static const char *const required[] = {GRAFT_REGEX_ID, NULL};

static const struct graft_plugin plugin;

static int init(struct graft_error *error) {
    (void)error;
    input_bits = graft_codec_input_bits(host->options(&plugin));
    regexes = host->get_extension(GRAFT_REGEX_ID);
    return GRAFT_OK;
}

static const struct graft_field_rule field_rules[] = {
    /* Fields that say how the numbers were found, and fields that the tensors imply: which modules are quantized, and
       to which types. */
    {.name = "quantization_config.config_groups.*.weights.block_structure"},
    {.name = "quantization_config.config_groups.*.weights.dynamic",
     .values = "[false, null]",
     .flags = GRAFT_FIELD_ONLY},
    {.name = "quantization_config.config_groups.*.weights.observer"},
    {.name = "quantization_config.config_groups.*.weights.observer_kwargs"},
    {.name = "quantization_config.config_groups.*.weights.scale_dtype"},
    {.name = "quantization_config.config_groups.*.weights.zp_dtype"},
    {.name = "quantization_config.format", .values = "[\"mixed-precision\"]"}, /* each group has its own format */
    {.name = "quantization_config.global_compression_ratio"},
    {.name = "quantization_config.ignore"},
    {.name = "quantization_config.quantization_status"},
    {.name = "quantization_config.version"},
    /* Activations, keys and values are not quantized here (README.md). */
    {.name = "quantization_config.config_groups.*.input_activations"},
    {.name = "quantization_config.kv_cache_scheme"},
    {.name = "quantization_config.config_groups.*.output_activations", .values = "[null]", .flags = GRAFT_FIELD_ONLY},
    {.name = "quantization_config.sparsity_config.global_sparsity"},
    {.name = "quantization_config.sparsity_config.ignore"},
    {.name = "quantization_config.sparsity_config.registry_requires_subclass"},
    {.name = "quantization_config.sparsity_config.sparsity_structure"},
    {.name = "quantization_config.sparsity_config.targets"},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "compressed_tensors",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of compressed-tensors checkpoints, multiplied from their packed form",
    .requires_extensions = required,
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .classes = &expert_class,
    .n_classes = 1,
    .class_stride = sizeof expert_class,
    .init = init,
    .options = options,
    .n_options = 1,
    .option_stride = sizeof options[0],
    .quant_methods = methods,
    GRAFT_FIELD_RULES(field_rules),
    .quantizations = ct_quantizations,
    .n_quantizations = CT_QUANTIZATIONS,
    .quantization_stride = sizeof(struct graft_quantization),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
