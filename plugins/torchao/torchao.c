/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of checkpoints by torchao (quant_method "torchao"), as stored in safetensors: 8-bit integers in rows, with a
 * scale for each row, group of inputs or the whole weight; and 4-bit integers in groups, with a scale and a shift
 * (int4.c). */
#include "torchao.h"
#include "graft/field_rule.h"
#include "graft/plugin.h"

/* Refuses zero points other than 0 for integers that have none. */
static int finish(const struct graft_build *build, const void *context, struct graft_codec *codec,
                  struct graft_error *error) {
    const struct graft_weight *zeros = build->weight(build->data, "_weight_zero_point");
    (void)context;
    (void)codec;
    for (int32_t i = 0; zeros != NULL && i < zeros->n_blocks; i++) {
        const struct graft_row_block *block = graft_weight_block(zeros, i);
        for (int64_t k = 0; k < block->rows * zeros->columns; k++) {
            if (((const int8_t *)block->data)[k] != 0) {
                return graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                                       "_weight_zero_point: expected zeros, because weights are symmetric, got %d",
                                       (int)((const int8_t *)block->data)[k]);
            }
        }
    }
    return torchao_check_inputs(build, error);
}

/* Reads which weights share a scale. */
static int read_granularity(const struct graft_config *config, struct graft_codec *codec, struct graft_error *error) {
    static const char field[] = TORCHAO_FIELD("granularity._type");
    const char *name = "PerRow";
    graft_config_string(config, field, &name, error);
    if (strcmp(name, "PerRow") == 0) {
        return error->code;
    }
    if (strcmp(name, "PerTensor") == 0) {
        codec->block_rows = codec->rows;
        return GRAFT_OK;
    }
    return strcmp(name, "PerGroup") == 0
               ? torchao_read_group(config, TORCHAO_FIELD("granularity._data.group_size"), codec, error)
               : graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: expected \"PerRow\", \"PerGroup\" or \"PerTensor\", got \"%s\"", field, name);
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    (void)cls;
    if (graft_scheme_of_linear(&scheme, args, sink->path, error) != GRAFT_OK ||
        read_granularity(config, &scheme.codec, error) != GRAFT_OK) {
        return error->code;
    }
    scheme.codec.kind = GRAFT_CODE_INT;
    scheme.codec.bits = 8;
    scheme.finish = finish;
    graft_scheme_codes(&scheme, "_weight_qdata", scheme.codec.columns, GRAFT_DTYPE_I8);
    graft_scheme_scales(&scheme, "_weight_scale", GRAFT_DTYPE_NONE);
    struct graft_parameter_info *zeros =
        graft_scheme_add(&scheme, GRAFT_CODED_OTHER, "_weight_zero_point", GRAFT_DTYPE_I8, 2, scheme.tensors[1].shape);
    zeros->init = GRAFT_INIT_ABSENT;
    zeros->join = scheme.tensors[1].join;
    zeros->inputs = scheme.tensors[1].inputs;
    torchao_add_inputs(&scheme);
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

static const struct graft_class int8_class = GRAFT_SCHEME_LINEAR_CLASS("TorchAoInt8Linear", describe);

/* --- Descriptor --- */

static const char *const methods[] = {"torchao", NULL};
static const char *const int8_types[] = {"Int8WeightOnlyConfig", NULL};
static const char *const int4_types[] = {"Int4WeightOnlyConfig", NULL};
static const char *const plain[] = {"PLAIN", "plain", NULL};
static const char *const int8_tensors[] = {"_weight_qdata", NULL};
static const char *const int4_tensors[] = {"_weight_qdata", "_weight_codes", NULL};

#define CONDITION(kind, field, values) \
    { sizeof(struct graft_condition), kind, field, values }
#define TYPE_FIELD "quantization_config.quant_type.default._type"

static const struct graft_condition if_int8[] = {GRAFT_SCHEME_IS_METHOD(methods),
                                                 CONDITION(GRAFT_CONDITION_CONFIG, TYPE_FIELD, int8_types),
                                                 GRAFT_SCHEME_HAS_TENSOR(int8_tensors)};
static const struct graft_condition if_int4[] = {
    GRAFT_SCHEME_IS_METHOD(methods), CONDITION(GRAFT_CONDITION_CONFIG, TYPE_FIELD, int4_types),
    CONDITION(GRAFT_CONDITION_CONFIG, TORCHAO_FIELD("int4_packing_format._data"), plain),
    GRAFT_SCHEME_HAS_TENSOR(int4_tensors)};

static const struct graft_replacement replacements[] = {GRAFT_SCHEME_LINEARS(&int8_class, if_int8),
                                                        GRAFT_SCHEME_LINEARS(&torchao_int4_class, if_int4)};

static const struct graft_field_rule field_rules[] = {
    /* The tensors show which modules are quantized. How codes were found, and which kernels torchao uses, does not
       change results. */
    {.name = "quantization_config.include_input_output_embeddings"},
    {.name = "quantization_config.modules_to_not_convert"},
    {.name = "quantization_config.untie_embedding_weights"},
    {.name = "quantization_config.quant_type.default._version"},
    {.name = TORCHAO_FIELD("granularity._version")},
    {.name = TORCHAO_FIELD("granularity._data.dim")},
    {.name = TORCHAO_FIELD("int4_choose_qparams_algorithm._data")},
    {.name = TORCHAO_FIELD("int4_choose_qparams_algorithm._type")},
    {.name = TORCHAO_FIELD("int4_packing_format._type")},
    {.name = TORCHAO_FIELD("int4_tile_packed_ntile")},
    {.name = TORCHAO_FIELD("set_inductor_config")},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "torchao",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of checkpoints by torchao: int8 and int4 weight-only",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .quant_methods = methods,
    GRAFT_FIELD_RULES(field_rules),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
