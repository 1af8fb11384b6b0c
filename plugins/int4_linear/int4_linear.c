/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linears in 4 bits, a scale for each 32 (or 64, 128) weights of a row, quantized while the model is loaded:
 * projections, the language model head, and experts, stacked or as modules. That is lossy, so the plugin has to be
 * asked for by name.
 */
#include "graft/expert_parts.h"
#include "graft/plugin.h"
#include "quantize.h"

static int32_t input_bits;

/* Rows are words of eight codes, with a scale for each group. */
static void set_codec(struct graft_codec *codec) {
    codec->kind = GRAFT_CODE_UINT;
    codec->bits = 4;
    codec->zero = INT4_ZERO;
    codec->group_size = int4_group_size();
    codec->input_bits = input_bits;
}

/* --- Linears --- */

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    (void)cls;
    (void)config;
    int status = graft_scheme_of_linear(&scheme, args, sink->path, error);
    if (status != GRAFT_OK) {
        return status;
    }
    set_codec(&scheme.codec);
    graft_scheme_codes(&scheme, "qweight", graft_quantizer_elements(&int4_quantizer, scheme.codec.columns),
                       GRAFT_DTYPE_I32);
    graft_scheme_scales(&scheme, "scales", GRAFT_DTYPE_BF16);
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

static const char *const sources[] = {"weight"};
static const char *const targets[] = {"qweight", "scales"};

static const struct graft_operation quantize[] = {
    {.struct_size = sizeof quantize[0], .kind = GRAFT_OP_CUSTOM, .custom = &int4_quantize_rows},
};

static const struct graft_conversion conversions[] = {
    {
        .struct_size = sizeof conversions[0],
        .n_sources = 1,
        .sources = sources,
        .n_targets = 2,
        .targets = targets,
        .n_operations = 1,
        .operations = quantize,
        .operation_stride = sizeof quantize[0],
    },
};

static const struct graft_class int4_linear_class = {
    .struct_size = sizeof int4_linear_class,
    .name = "Int4Linear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .conversions = conversions,
    .n_conversions = 1,
    .conversion_stride = sizeof conversions[0],
};

/* --- Stacked experts --- */

GRAFT_PARTS_QUANTIZED_EXPERTS(experts, &int4_quantize_rows);
GRAFT_PARTS_TURNED_EXPERTS(turned, &int4_quantize_rows);

static int read_stack(struct graft_parts_stack *stack, struct graft_error *error) {
    (void)error;
    set_codec(stack->codec);
    stack->shape[0] = graft_quantizer_elements(&int4_quantizer, stack->codec->columns);
    stack->code_dtype = int4_quantizer.code_dtype;
    stack->scale_dtype = int4_quantizer.scale_dtype;
    return GRAFT_OK;
}

static const struct graft_parts_coded_experts stacks = {.codes = "qweight", .scales = "scales", .read = read_stack};
static const struct graft_parts_coded_experts turned_stacks = {
    .codes = "qweight", .scales = "scales", .read = read_stack, .by_turns = 1};

static const struct graft_class experts_class = {GRAFT_PARTS_CODED_EXPERTS_CLASS("Int4Experts", &stacks),
                                                 GRAFT_CLASS_CONVERSIONS(experts_conversions)};
static const struct graft_class turned_experts_class = {
    GRAFT_PARTS_CODED_EXPERTS_CLASS("Int4TurnedExperts", &turned_stacks), GRAFT_CLASS_CONVERSIONS(turned_conversions)};

/* --- What the host is told --- */

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_NAME,
        .target = "Linear",
        .replacement = &int4_linear_class,
        .module_path = GRAFT_QUANTIZER_PROJECTIONS "|" GRAFT_QUANTIZER_HEAD,
    },
    {GRAFT_PARTS_QUANTIZED_TURNED(&turned_experts_class)},
    {GRAFT_PARTS_QUANTIZED_ALL(&experts_class)},
};

static const char *const group_sizes[] = {"32", "64", "128", NULL};

static const struct graft_option options[] = {
    {
        .struct_size = sizeof options[0],
        .kind = GRAFT_OPTION_INT,
        .name = "group_size",
        .help = "Weights of a row that share a scale: more are faster, and less exact",
        .default_value = "32",
        .choices = group_sizes,
    },
    {GRAFT_ACTIVATION_BITS("8")},
};

static const struct graft_plugin plugin;
static const struct graft_host *host;

static int init(struct graft_error *error) {
    (void)error;
    const struct graft_args *given = host->options(&plugin);
    int4_set_group_size(graft_args_int(given, "group_size", 32));
    input_bits = graft_codec_input_bits(given);
    return GRAFT_OK;
}

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "int4_linear",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Projections, experts and the head in 4 bits, a scale for some weights of a row",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .custom_operations = &int4_quantize_rows,
    .n_custom_operations = 1,
    .custom_operation_stride = sizeof int4_quantize_rows,
    .init = init,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .option_stride = sizeof options[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
