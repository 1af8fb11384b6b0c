/* SPDX-License-Identifier: Apache-2.0 */
/* Experts of checkpoints in MXFP4 (quant_method "mxfp4"; Rouhani et al. 2023), used in place. Blocks and scales have a
 * row for each output, with alternating rows of gate and up. The architecture's own parameter is the transpose,
 * [experts, in, out]. */
#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/plugin.h"
#include "quantize.h"

enum {
    BLOCK = 32, /* inputs that share a scale */
    BYTES = 16  /* bytes of a block's codes */
};

static int32_t input_bits;

/* Describes the stack; a row of codes is [blocks, bytes of a block]. */
static int read_stack(struct graft_parts_stack *stack, struct graft_error *error) {
    struct graft_codec *codec = stack->codec;
    codec->kind = GRAFT_CODE_FLOAT4;
    codec->bits = 4;
    codec->group_size = BLOCK;
    codec->input_bits = input_bits;
    stack->rank = 2;
    stack->shape[0] = codec->columns / BLOCK;
    stack->shape[1] = BYTES;
    stack->code_dtype = stack->scale_dtype = GRAFT_DTYPE_U8;
    return codec->columns % BLOCK == 0
               ? GRAFT_OK
               : graft_error_set(
                     error, GRAFT_ERROR_MODEL, stack->path,
                     "%s is %lld, expected a multiple of %d, because a block of MXFP4 holds that many inputs",
                     stack->columns_field, (long long)codec->columns, BLOCK);
}

static const struct graft_parts_coded_experts stacks = {
    .codes = "blocks", .scales = "scales", .read = read_stack, .by_turns = 1};

static const struct graft_class experts_class = {GRAFT_PARTS_CODED_EXPERTS_CLASS("Mxfp4GptOssExperts", &stacks)};

static const char *const methods[] = {"mxfp4", NULL};
static const char *const packed_tensors[] = {"gate_up_proj_blocks", NULL};

static const struct graft_condition conditions[] = {
    {sizeof conditions[0], GRAFT_CONDITION_CONFIG, "quantization_config.quant_method", methods},
    {sizeof conditions[0], GRAFT_CONDITION_TENSOR, NULL, packed_tensors},
};

static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement,
    .key = GRAFT_KEY_NAME,
    .target = "GptOssExperts",
    .replacement = &experts_class,
    .conditions = conditions,
    .n_conditions = sizeof conditions / sizeof conditions[0],
    .condition_stride = sizeof conditions[0],
};

static const struct graft_option options[] = {{GRAFT_ACTIVATION_BITS("16")}};

static const struct graft_host *host;
static const struct graft_plugin plugin;

static int init(struct graft_error *error) {
    (void)error;
    input_bits = graft_codec_input_bits(host->options(&plugin));
    return GRAFT_OK;
}

static const struct graft_field_rule field_rules[] = {
    /* The tensors show which modules are quantized. The other fields choose how the reference computes; they do not
       change the results. */
    {.name = "quantization_config.dequantize"},
    {.name = "quantization_config.modules_to_not_convert"},
    {.name = "quantization_config.use_experts_hub_kernels"},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "mxfp4",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Experts of checkpoints in MXFP4, multiplied from their packed form",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
    .init = init,
    .options = options,
    .n_options = 1,
    .option_stride = sizeof options[0],
    .quant_methods = methods,
    GRAFT_FIELD_RULES(field_rules),
    .quantizations = &mxfp4_quantization,
    .n_quantizations = 1,
    .quantization_stride = sizeof(struct graft_quantization),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
