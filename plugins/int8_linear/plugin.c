/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two plugins from the same files: int8_linear takes the projections of attention and MLPs, and experts, stacked or as
 * modules; int8_linear_head (compiled with INT8_LINEAR_HEAD) the language model head. Their operation is lossy, so both
 * have to be asked for by name.
 */
#include "graft/plugin.h"

#include "graft/expert_parts.h"
#include "int8_linear.h"
#include "quantize.h"

#ifdef INT8_LINEAR_HEAD
#define ID "int8_linear_head"
#define WHAT "The language model head in int8, a scale for each row or group of weights"
#define MODULE_PATH GRAFT_QUANTIZER_HEAD
#else
#define ID "int8_linear"
#define WHAT "Projections of attention and MLPs, and experts, in int8, a scale for each row or group of weights"
#define MODULE_PATH GRAFT_QUANTIZER_PROJECTIONS
#endif

#ifndef INT8_LINEAR_HEAD
GRAFT_PARTS_QUANTIZED_EXPERTS(experts, &int8_quantize_rows);
GRAFT_PARTS_TURNED_EXPERTS(turned, &int8_quantize_rows);

static int read_stack(struct graft_parts_stack *stack, struct graft_error *error) {
    (void)error;
    int8_set_codec(stack->codec);
    stack->shape[0] = graft_quantizer_elements(&int8_quantizer, stack->codec->columns);
    stack->code_dtype = int8_quantizer.code_dtype;
    stack->scale_dtype = int8_quantizer.scale_dtype;
    return GRAFT_OK;
}

static const struct graft_parts_coded_experts stacks = {.codes = "qweight", .scales = "scales", .read = read_stack};
static const struct graft_parts_coded_experts turned_stacks = {
    .codes = "qweight", .scales = "scales", .read = read_stack, .by_turns = 1};

static const struct graft_class experts_class = {GRAFT_PARTS_CODED_EXPERTS_CLASS("Int8Experts", &stacks),
                                                 GRAFT_CLASS_CONVERSIONS(experts_conversions)};
static const struct graft_class turned_experts_class = {
    GRAFT_PARTS_CODED_EXPERTS_CLASS("Int8TurnedExperts", &turned_stacks), GRAFT_CLASS_CONVERSIONS(turned_conversions)};
#endif

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_NAME,
        .target = "Linear",
        .replacement = &int8_linear_class,
        .module_path = MODULE_PATH,
    },
#ifndef INT8_LINEAR_HEAD
    {GRAFT_PARTS_QUANTIZED_TURNED(&turned_experts_class)},
    {GRAFT_PARTS_QUANTIZED_ALL(&experts_class)},
#endif
};

static const char *const group_sizes[] = {"0", "32", "64", "128", NULL};

static const struct graft_option options[] = {
    {
        .struct_size = sizeof options[0],
        .kind = GRAFT_OPTION_INT,
        .name = "group_size",
        .help = "Weights of a row that share a scale, where it divides the row; 0: all of the row",
        .default_value = "0",
        .choices = group_sizes,
    },
    {GRAFT_ACTIVATION_BITS("8")},
};

static const struct graft_plugin plugin;
static const struct graft_host *host;

static int init(struct graft_error *error) {
    (void)error;
    const struct graft_args *given = host->options(&plugin);
    int8_set_group_size(graft_args_int(given, "group_size", 0));
    int8_input_bits = graft_codec_input_bits(given);
    return GRAFT_OK;
}

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = ID,
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = WHAT,
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .custom_operations = &int8_quantize_rows,
    .n_custom_operations = 1,
    .custom_operation_stride = sizeof int8_quantize_rows,
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
