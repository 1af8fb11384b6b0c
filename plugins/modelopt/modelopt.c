/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linears of checkpoints by NVIDIA's Model Optimizer (quant_method "modelopt"), read where they lie in the file:
 * F8_E4M3 weights with one scale ("FP8"), and E2M1 with a F8_E4M3 scale for each 16 inputs and a factor that all of
 * them share
 * ("NVFP4"). The tensors tell which a module has, and config.json which there may be. Activations and the cache of keys
 * and values stay as they are: the scales that a checkpoint has for them are kept and not used.
 */
#include <float.h>
#include <stdlib.h>

#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/packed_rows.h"
#include "graft/plugin.h"

enum { GROUP = 16 };

#define FIELD(name) "quantization_config." name

/* The `data` of a class: of which algorithms it is, apart from a mixture of them. */
struct format {
    const char *algorithms[2];
    int32_t is_float4;
};

static const struct format fp8 = {.algorithms = {"FP8", "FP8"}};
static const struct format nvfp4 = {.algorithms = {"NVFP4", "W4A16_NVFP4"}, .is_float4 = 1};

/* --- What config.json and a module say --- */

static int is_of(const struct format *format, const char *algorithm) {
    return strcmp(algorithm, format->algorithms[0]) == 0 || strcmp(algorithm, format->algorithms[1]) == 0;
}

static int check_algorithm(const struct format *format, const struct graft_config *config, const char *path,
                           struct graft_error *error) {
    static const char field[] = FIELD("quant_algo");
    const char *algorithm = "";
    int status = graft_config_string(config, field, &algorithm, error);
    if (status != GRAFT_OK || is_of(format, algorithm) || strcmp(algorithm, "MIXED_PRECISION") == 0) {
        return status;
    }
    return is_of(&fp8, algorithm) || is_of(&nvfp4, algorithm)
               ? graft_error_set(error, GRAFT_ERROR_MODEL, path, "%s tensor \"weight_scale_2\", but %s has %s: \"%s\"",
                                 format->is_float4 ? "there is a" : "no", config->file, field, algorithm)
               : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: expected \"FP8\", \"NVFP4\", \"W4A16_NVFP4\" or \"MIXED_PRECISION\", got \"%s\"",
                                 field, algorithm);
}

static void set_sizes(struct graft_packed_rows *rows, int32_t is_float4) {
    rows->bits = is_float4 ? 4 : 8;
    rows->block_rows = is_float4 ? 1 : rows->out_features;
    rows->group_size = is_float4 ? GROUP : rows->in_features;
    rows->groups = graft_packed_rows_blocks(rows->in_features, rows->group_size);
    rows->row_bytes = graft_packed_rows_blocks(rows->in_features * rows->bits, 8);
}

/* A tensor that a module may have; of joined ones, some of them. */
static int describe_optional(const struct graft_sink *sink, const char *name, int64_t length,
                             struct graft_error *error) {
    struct graft_parameter_info info = {.struct_size = sizeof info,
                                        .flags = GRAFT_PARAMETER_SCALAR | GRAFT_PARAMETER_ANY_LENGTH,
                                        .name = name,
                                        .rank = 1,
                                        .init = GRAFT_INIT_ABSENT,
                                        .shape = {length, 1, 1, 1, 1, 1, 1, 1},
                                        .join = graft_join_whole(GRAFT_JOIN_EACH)};
    return sink->parameter(sink->data, &info, error);
}

static int describe_scales(const struct graft_sink *sink, const struct graft_packed_rows *rows, int32_t is_float4,
                           struct graft_error *error) {
    const int64_t shape[2] = {rows->out_features, rows->groups}, one = 1;
    if (!is_float4) {
        return graft_packed_rows_scales(sink, "weight_scale", rows, 1, error);
    }
    int status =
        graft_describe_joined(sink, "weight_scale", 2, shape, GRAFT_DTYPE_F8_E4M3, 0, graft_join_rows(0, 1), error);
    return status == GRAFT_OK ? graft_describe_joined(sink, "weight_scale_2", 1, &one, GRAFT_DTYPE_F32,
                                                      GRAFT_PARAMETER_SCALAR, graft_join_whole(GRAFT_JOIN_EQUAL), error)
                              : status;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    static const char *const unused[] = {"input_scale", "k_scale", "v_scale"};
    const struct format *format = cls->data;
    struct graft_packed_rows *rows = sink->keep(sink->data, sizeof *rows, error); /* for `create` */
    int status = rows != NULL ? graft_packed_rows_sizes(args, sink->path, rows, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = check_algorithm(format, config, sink->path, error);
    }
    if (status == GRAFT_OK) {
        set_sizes(rows, format->is_float4);
        status = graft_packed_rows_codes(sink, "weight", rows->out_features, rows->row_bytes,
                                         format->is_float4 ? GRAFT_DTYPE_U8 : GRAFT_DTYPE_F8_E4M3, error);
    }
    if (status == GRAFT_OK) {
        status = describe_scales(sink, rows, format->is_float4, error);
    }
    for (size_t i = 0; i < sizeof unused / sizeof unused[0] && status == GRAFT_OK; i++) {
        status = describe_optional(sink, unused[i], 1, error);
    }
    if (status == GRAFT_OK) {
        status = describe_optional(sink, "pre_quant_scale", rows->in_features, error); /* to refuse it */
    }
    return status == GRAFT_OK ? graft_packed_rows_describe(sink, rows, args, error) : status;
}

/* --- Running it --- */

static int bind_factor(const struct graft_build *build, struct graft_packed_rows *rows, struct graft_error *error) {
    int status = GRAFT_OK;
    const struct graft_weight *weight = graft_build_weight(build, "weight_scale_2", &status, error);
    rows->factor = weight != NULL ? *(const float *)graft_weight_block(weight, 0)->data : 0.0F;
    return status == GRAFT_OK && !(rows->factor > 0.0F && rows->factor <= FLT_MAX)
               ? graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                                 "weight_scale_2: expected a finite number above 0, got %g", (double)rows->factor)
               : status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    const struct format *format = cls->data;
    if (build->weight(build->data, "pre_quant_scale") != NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                               "pre_quant_scale: inputs that are scaled beforehand are not read by this plugin");
    }
    int status = graft_packed_rows_create(
        build, graft_packed_rows_choose(format->is_float4 ? graft_packed_rows_float4 : graft_packed_rows_float8),
        "weight", "weight_scale", instance, error);
    if (status == GRAFT_OK && format->is_float4 && (status = bind_factor(build, *instance, error)) != GRAFT_OK) {
        free(*instance);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return graft_packed_rows_forward(instance, call, args, error);
}

static int as_loop(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_loop *loop, struct graft_error *error) {
    return graft_packed_rows_as_loop(instance, call, args, loop, error);
}

static void read_rows(void *instance, int64_t first, int64_t n, float *weight, float *bias) {
    graft_packed_rows_read(instance, first, n, weight, bias);
}

static const struct graft_linear vtable = {
    .struct_size = sizeof vtable, .forward = forward, .as_loop = as_loop, .read_rows = read_rows};

#define LINEAR_CLASS(class_name, format)                                                                 \
    {                                                                                                    \
        .struct_size = sizeof(struct graft_class), .name = (class_name), .data = &(format),              \
        .interface_id = GRAFT_INTERFACE_LINEAR, .describe = describe, .create = create, .destroy = free, \
        .forward = &vtable,                                                                              \
    }

static const struct graft_class fp8_class = LINEAR_CLASS("ModelOptFP8Linear", fp8);
static const struct graft_class nvfp4_class = LINEAR_CLASS("ModelOptNVFP4Linear", nvfp4);

/* Experts that the checkpoint has one by one: stacked parameters cannot hold them. */
static const struct graft_class expert_class = {GRAFT_PARTS_EXPERT_CLASS("ModelOptMoeMLP")};

static const struct graft_parts_expert_list list = {"ModelOptMoeMLP"};

static const struct graft_class experts_class = {
    GRAFT_PARTS_CLASS("ModelOptExperts", GRAFT_INTERFACE_EXPERTS, graft_parts_expert_list), .data = &list};

/* --- Where it takes effect --- */

static const char *const methods[] = {"modelopt", NULL};
static const char *const scale[] = {"weight_scale", NULL};
static const char *const factor[] = {"weight_scale_2", NULL};
static const char *const expert_scales[] = {"0.gate_proj.weight_scale", "0.w1.weight_scale", NULL};

#define IS_METHOD \
    { sizeof(struct graft_condition), GRAFT_CONDITION_CONFIG, FIELD("quant_method"), methods }
#define HAS(names) \
    { sizeof(struct graft_condition), GRAFT_CONDITION_TENSOR, NULL, names }

static const struct graft_condition of_fp8[] = {
    IS_METHOD, HAS(scale), {sizeof(struct graft_condition), GRAFT_CONDITION_NO_TENSOR, NULL, factor}};
static const struct graft_condition of_nvfp4[] = {IS_METHOD, HAS(factor)};
static const struct graft_condition of_experts[] = {IS_METHOD, HAS(expert_scales)};

#define LINEARS(cls, array)                                                                             \
    {                                                                                                   \
        .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_NAME, .target = "Linear",     \
        .replacement = &(cls), .conditions = (array), .n_conditions = sizeof(array) / sizeof(array)[0], \
        .condition_stride = sizeof(array)[0],                                                           \
    }

static const struct graft_replacement replacements[] = {
    LINEARS(fp8_class, of_fp8),
    LINEARS(nvfp4_class, of_nvfp4),
    {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, of_experts)},
};

static const struct graft_field_rule field_rules[] = {
    /* What the tensors say: which modules are quantized, and how. */
    {.name = "quantization_config.config_groups.*.targets"},
    {.name = "quantization_config.config_groups.*.weights"},
    {.name = "quantization_config.exclude_modules"},
    {.name = "quantization_config.ignore"},
    {.name = "quantization_config.producer"},
    /* Activations, keys and values stay as they are (README.md). */
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
