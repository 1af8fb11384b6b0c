/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linears of compressed-tensors checkpoints, read where they lie in the file: integers of 4 and 8 bits in words
 * (format "pack-quantized"), int8 ("int-quantized"), F8_E4M3 ("float-quantized") and float4 ("mxfp4-pack-quantized",
 * "nvfp4-pack-quantized"). Activations stay as they are: the scale that a checkpoint may have for them is kept and not
 * used.
 */
#include <float.h>
#include <stdlib.h>

#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/packed_rows.h"
#include "graft/plugin.h"
#include "scheme.h"

static const struct graft_host *host;
static const struct graft_regexes *regexes;
static int32_t input_bits;

struct ct_linear {
    struct graft_packed_rows rows; /* first, so that it is what loops are given */
    struct ct_scheme scheme;
    int64_t whole_in_features; /* of the weight in the checkpoint, of which this may be a part */
    int64_t whole_out_features;
};

/* Which weights share a scale. */
static int set_groups(struct ct_linear *self, const char *path, struct graft_error *error) {
    const struct ct_scheme *scheme = &self->scheme;
    struct graft_packed_rows *rows = &self->rows;
    const int64_t slots = 32 / ct_bits(scheme);
    self->rows.block_rows = scheme->strategy == CT_TENSOR  ? rows->out_features
                            : scheme->strategy == CT_BLOCK ? scheme->block[0]
                                                           : 1;
    rows->group_size = ct_has_groups(scheme)          ? scheme->group_size
                       : scheme->strategy == CT_BLOCK ? scheme->block[1]
                                                      : rows->in_features;
    rows->groups = graft_packed_rows_blocks(rows->in_features, rows->group_size);
    return ct_has_words(scheme) && rows->groups > 1 && !scheme->is_ordered && rows->group_size % slots != 0
               ? graft_error_set(error, GRAFT_ERROR_MODEL, path, "groups of %lld inputs do not fill words of 32 bits",
                                 (long long)rows->group_size)
               : GRAFT_OK;
}

static int describe_words(const struct graft_sink *sink, struct ct_linear *self, struct graft_error *error) {
    static const int64_t two = 2;
    struct graft_packed_rows *rows = &self->rows;
    const int64_t words = graft_packed_rows_blocks(rows->in_features * rows->bits, 32);
    const int64_t zeros[2] = {graft_packed_rows_blocks(rows->out_features * rows->bits, 32), rows->groups};
    self->rows.row_bytes = words * 4;
    rows->zero = self->scheme.is_asymmetric ? 0 : 1 << (rows->bits - 1);
    int status = graft_packed_rows_codes(sink, "weight_packed", rows->out_features, words, GRAFT_DTYPE_I32, error);
    if (status == GRAFT_OK) {
        status = graft_describe_joined(sink, "weight_shape", 1, &two, GRAFT_DTYPE_I64, GRAFT_PARAMETER_CONTIGUOUS,
                                       graft_join_whole(GRAFT_JOIN_EACH), error);
    }
    if (status == GRAFT_OK && self->scheme.is_asymmetric) {
        status = graft_describe_joined(sink, "weight_zero_point", 2, zeros, GRAFT_DTYPE_I32, GRAFT_PARAMETER_CONTIGUOUS,
                                       graft_join_rows(0, 32 / rows->bits), error);
    }
    return status == GRAFT_OK && self->scheme.is_ordered
               ? graft_describe_joined(sink, "weight_g_idx", 1, &rows->in_features, GRAFT_DTYPE_I32,
                                       GRAFT_PARAMETER_CONTIGUOUS, graft_join_whole(GRAFT_JOIN_EQUAL), error)
               : status;
}

/* Scales are powers of two, or F8_E4M3 over what all of them share: projections whose divisors differ stay apart. */
static int describe_float4(const struct graft_sink *sink, struct ct_linear *self, struct graft_error *error) {
    static const int64_t one = 1;
    struct graft_packed_rows *rows = &self->rows;
    const int has_divisor = self->scheme.strategy == CT_TENSOR_GROUP;
    const int64_t scales[2] = {rows->out_features, rows->groups};
    rows->row_bytes = graft_packed_rows_blocks(rows->in_features, 2);
    int status =
        graft_packed_rows_codes(sink, "weight_packed", rows->out_features, rows->row_bytes, GRAFT_DTYPE_U8, error);
    if (status == GRAFT_OK) {
        status =
            graft_describe_joined(sink, "weight_scale", 2, scales, has_divisor ? GRAFT_DTYPE_F8_E4M3 : GRAFT_DTYPE_U8,
                                  0, graft_join_rows(0, 1), error);
    }
    return status == GRAFT_OK && has_divisor
               ? graft_describe_joined(sink, "weight_global_scale", 1, &one, GRAFT_DTYPE_F32, GRAFT_PARAMETER_SCALAR,
                                       graft_join_whole(GRAFT_JOIN_EQUAL), error)
               : status;
}

static int describe_tensors(const struct graft_sink *sink, struct ct_linear *self, struct graft_error *error) {
    struct graft_packed_rows *rows = &self->rows;
    const int is_float4 = self->scheme.kind == GRAFT_ROW_KIND_FLOAT4;
    int status;
    rows->bits = ct_bits(&self->scheme);
    rows->input_bits = input_bits;
    if (is_float4) {
        status = describe_float4(sink, self, error);
    } else if (ct_has_words(&self->scheme)) {
        status = describe_words(sink, self, error);
    } else {
        const graft_dtype dtype = self->scheme.kind == GRAFT_ROW_KIND_INT8 ? GRAFT_DTYPE_I8 : GRAFT_DTYPE_F8_E4M3;
        rows->row_bytes = rows->in_features;
        status = graft_packed_rows_codes(sink, "weight", rows->out_features, rows->in_features, dtype, error);
    }
    if (status == GRAFT_OK && !is_float4) {
        status = graft_packed_rows_scales(sink, "weight_scale", rows, self->scheme.strategy == CT_TENSOR, error);
    }
    return status == GRAFT_OK && self->scheme.input_scale != NULL
               ? graft_packed_rows_input_scale(sink, self->scheme.input_scale, error)
               : status;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct ct_linear *self = sink->keep(sink->data, sizeof *self, error); /* for `create` */
    (void)cls;
    int status = self != NULL ? graft_packed_rows_sizes(args, sink->path, &self->rows, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        self->whole_in_features = graft_args_int(args, "whole_in_features", self->rows.in_features);
        self->whole_out_features = graft_args_int(args, "whole_out_features", self->rows.out_features);
        status = ct_scheme_read(config, regexes, sink->config_path, &self->scheme, error);
    }
    if (status == GRAFT_OK) {
        status = set_groups(self, sink->path, error);
    }
    if (status == GRAFT_OK) {
        status = describe_tensors(sink, self, error);
    }
    return status == GRAFT_OK ? graft_packed_rows_describe(sink, &self->rows, args, error) : status;
}

static const struct graft_packed_rows_loops *choose_loops(int32_t kind) {
    switch (kind) {
    case GRAFT_ROW_KIND_UINT4:
        return graft_packed_rows_choose(graft_packed_rows_uint4);
    case GRAFT_ROW_KIND_UINT8:
        return graft_packed_rows_choose(graft_packed_rows_uint8);
    case GRAFT_ROW_KIND_INT8:
        return graft_packed_rows_choose(graft_packed_rows_int8);
    case GRAFT_ROW_KIND_FLOAT4:
        return graft_packed_rows_choose(graft_packed_rows_float4);
    default:
        return graft_packed_rows_choose(graft_packed_rows_float8);
    }
}

/* `weight_shape` says what the last word of a row, which codes may not fill, cannot; of joined modules each says it. */
static int check_shape(const char *path, const struct ct_linear *self, const struct graft_weight *weight,
                       struct graft_error *error) {
    const int64_t *shape = graft_weight_block(weight, 0)->data;
    int64_t outputs = 0, inputs = self->whole_in_features;
    for (int64_t i = 0; i < weight->rows / 2; i++) {
        outputs += shape[2 * i] > 0 && shape[2 * i] <= self->whole_out_features ? shape[2 * i] : INT32_MAX;
        inputs = shape[2 * i + 1] != self->whole_in_features ? shape[2 * i + 1] : inputs;
    }
    return outputs == self->whole_out_features && inputs == self->whole_in_features
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_MODEL, path,
                                 "weight_shape: expected [%lld, %lld], got [%lld, %lld]",
                                 (long long)self->whole_out_features, (long long)self->whole_in_features,
                                 (long long)shape[0], (long long)shape[1]);
}

static int bind_words(const struct graft_build *build, struct ct_linear *self, struct graft_error *error) {
    struct graft_packed_rows *rows = &self->rows;
    int status = GRAFT_OK;
    const struct graft_weight *weight = graft_build_weight(build, "weight_shape", &status, error);
    if (status == GRAFT_OK) {
        status = check_shape(build->path, self, weight, error);
    }
    if (self->scheme.is_asymmetric) {
        weight = graft_build_weight(build, "weight_zero_point", &status, error);
        rows->zeros = weight != NULL ? graft_weight_block(weight, 0)->data : NULL;
    }
    if (self->scheme.is_ordered) {
        weight = graft_build_weight(build, "weight_g_idx", &status, error);
        self->rows.group_of = weight != NULL ? graft_weight_block(weight, 0)->data : NULL;
    }
    for (int64_t i = 0; self->rows.group_of != NULL && i < rows->in_features && status == GRAFT_OK; i++) {
        if (self->rows.group_of[i] < 0 || self->rows.group_of[i] >= rows->groups) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                                     "weight_g_idx: element %lld is %d, expected a group, 0 to %lld", (long long)i,
                                     (int)self->rows.group_of[i], (long long)rows->groups - 1);
        }
    }
    return status;
}

static int bind_divisor(const struct graft_build *build, struct ct_linear *self, struct graft_error *error) {
    int status = GRAFT_OK;
    const struct graft_weight *weight = graft_build_weight(build, "weight_global_scale", &status, error);
    if (status == GRAFT_OK) {
        self->rows.divisor = *(const float *)graft_weight_block(weight, 0)->data;
    }
    return status == GRAFT_OK && !(self->rows.divisor > 0.0F && self->rows.divisor <= FLT_MAX)
               ? graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                                 "weight_global_scale: expected a finite number above 0, got %g",
                                 (double)self->rows.divisor)
               : status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct ct_linear *self = malloc(sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    memcpy(self, build->kept, sizeof *self);
    self->rows.loops = choose_loops(self->scheme.kind);
    const int is_packed = ct_has_words(&self->scheme) || self->scheme.kind == GRAFT_ROW_KIND_FLOAT4;
    int status =
        graft_packed_rows_bind(build, is_packed ? "weight_packed" : "weight", "weight_scale", &self->rows, error);
    if (status == GRAFT_OK && ct_has_words(&self->scheme)) {
        status = bind_words(build, self, error);
    }
    if (status == GRAFT_OK && self->scheme.strategy == CT_TENSOR_GROUP) {
        status = bind_divisor(build, self, error);
    }
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct ct_linear *self = instance;
    return graft_packed_rows_forward(&self->rows, call, args, error);
}

static int as_loop(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_loop *loop, struct graft_error *error) {
    const struct ct_linear *self = instance;
    return graft_packed_rows_as_loop(&self->rows, call, args, loop, error);
}

static void read_rows(void *instance, int64_t first, int64_t n, float *weight, float *bias) {
    const struct ct_linear *self = instance;
    graft_packed_rows_read(&self->rows, first, n, weight, bias);
}

static const struct graft_linear vtable = {
    .struct_size = sizeof vtable, .forward = forward, .as_loop = as_loop, .read_rows = read_rows};

static const struct graft_class compressed_linear_class = {
    .struct_size = sizeof compressed_linear_class,
    .name = "CompressedLinear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
};

/* Experts that the checkpoint has one by one: stacked parameters cannot hold them. */
static const struct graft_class expert_class = {GRAFT_PARTS_EXPERT_CLASS("CompressedMoeMLP")};

static const struct graft_parts_expert_list list = {"CompressedMoeMLP"};

static const struct graft_class experts_class = {
    GRAFT_PARTS_CLASS("CompressedExperts", GRAFT_INTERFACE_EXPERTS, graft_parts_expert_list), .data = &list};

static const char *const methods[] = {"compressed-tensors", NULL};
static const char *const tensors[] = {"weight_scale", NULL};

static const char *const expert_tensors[] = {"0.gate_proj.weight_scale", "0.w1.weight_scale", NULL};

static const struct graft_condition conditions[][2] = {
    {
        {sizeof conditions[0][0], GRAFT_CONDITION_CONFIG, "quantization_config.quant_method", methods},
        {sizeof conditions[0][0], GRAFT_CONDITION_TENSOR, NULL, tensors},
    },
    {
        {sizeof conditions[0][0], GRAFT_CONDITION_CONFIG, "quantization_config.quant_method", methods},
        {sizeof conditions[0][0], GRAFT_CONDITION_TENSOR, NULL, expert_tensors},
    },
};

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_NAME,
        .target = "Linear",
        .replacement = &compressed_linear_class,
        .conditions = conditions[0],
        .n_conditions = 2,
        .condition_stride = sizeof conditions[0][0],
    },
    {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, conditions[1])},
};

static const struct graft_option options[] = {{GRAFT_PACKED_ACTIVATION_BITS("16")}};

static const char *const required[] = {GRAFT_REGEX_ID, NULL};

static const struct graft_plugin plugin;

static int init(struct graft_error *error) {
    (void)error;
    input_bits = graft_packed_input_bits(host->options(&plugin));
    regexes = host->get_extension(GRAFT_REGEX_ID);
    return GRAFT_OK;
}

static const struct graft_field_rule field_rules[] = {
    /* How the numbers were found, and what the tensors say: which modules have them, and their types. */
    {.name = "quantization_config.config_groups.*.weights.block_structure"},
    {.name = "quantization_config.config_groups.*.weights.dynamic",
     .values = "[false, null]",
     .flags = GRAFT_FIELD_ONLY},
    {.name = "quantization_config.config_groups.*.weights.observer"},
    {.name = "quantization_config.config_groups.*.weights.observer_kwargs"},
    {.name = "quantization_config.config_groups.*.weights.scale_dtype"},
    {.name = "quantization_config.config_groups.*.weights.zp_dtype"},
    {.name = "quantization_config.format", .values = "[\"mixed-precision\"]"}, /* each group has its own */
    {.name = "quantization_config.global_compression_ratio"},
    {.name = "quantization_config.ignore"},
    {.name = "quantization_config.quantization_status"},
    {.name = "quantization_config.version"},
    /* Activations, keys and values stay as they are (README.md). */
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
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
