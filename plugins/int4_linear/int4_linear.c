/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linears in 4 bits, a scale for each 32 (or 64, 128) weights of a row, quantized while the model is loaded:
 * projections, the language model head, and experts, stacked or as modules. That is lossy, so the plugin has to be
 * asked for by name.
 */
#include <stdlib.h>

#include "graft/expert_parts.h"
#include "graft/option.h"
#include "graft/packed_rows.h"
#include "graft/plugin.h"
#include "quantize.h"

static int32_t input_bits;

static const struct graft_packed_rows_loops *loops(void) {
    return graft_packed_rows_choose(graft_packed_rows_uint4);
}

/* --- Linears --- */

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_packed_rows *rows = sink->keep(sink->data, sizeof *rows, error); /* for `create` */
    (void)cls;
    (void)config;
    int status = rows != NULL ? graft_packed_rows_sizes(args, sink->path, rows, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const int64_t words = graft_packed_rows_blocks(rows->in_features, INT4_CODES);
    rows->row_bytes = words * (int64_t)sizeof(int32_t);
    rows->block_rows = 1;
    rows->group_size = int4_group_size();
    rows->groups = graft_packed_rows_blocks(rows->in_features, rows->group_size);
    rows->bits = 4;
    rows->zero = INT4_ZERO;
    rows->input_bits = input_bits;
    const int64_t scales[2] = {rows->out_features, rows->groups};
    status = graft_packed_rows_codes(sink, "qweight", rows->out_features, words, GRAFT_DTYPE_I32, error);
    if (status == GRAFT_OK) {
        status = graft_packed_rows_codes(sink, "scales", scales[0], scales[1], GRAFT_DTYPE_BF16, error);
    }
    return status == GRAFT_OK ? graft_packed_rows_describe(sink, rows, args, error) : status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)cls;
    return graft_packed_rows_create(build, loops(), "qweight", "scales", instance, error);
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
    .create = create,
    .destroy = free,
    .forward = &vtable,
    .conversions = conversions,
    .n_conversions = 1,
    .conversion_stride = sizeof conversions[0],
};

/* --- Stacked experts --- */

GRAFT_PARTS_QUANTIZED_EXPERTS(experts, &int4_quantize_rows);
GRAFT_PARTS_TURNED_EXPERTS(turned, &int4_quantize_rows);

static const struct graft_parts_quantized_experts stacks = {
    .quantizer = &int4_quantizer, .loops = loops, .bits = 4, .zero = INT4_ZERO, .input_bits = &input_bits};
static const struct graft_parts_quantized_experts turned_stacks = {.quantizer = &int4_quantizer,
                                                                   .loops = loops,
                                                                   .bits = 4,
                                                                   .zero = INT4_ZERO,
                                                                   .input_bits = &input_bits,
                                                                   .by_turns = 1};

static const struct graft_class experts_class = {
    GRAFT_PARTS_QUANTIZED_CLASS("Int4Experts", &stacks, experts_conversions)};
static const struct graft_class turned_experts_class = {
    GRAFT_PARTS_QUANTIZED_CLASS("Int4TurnedExperts", &turned_stacks, turned_conversions)};

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
    {GRAFT_PACKED_ACTIVATION_BITS("8")},
};

static const struct graft_plugin plugin;
static const struct graft_host *host;

static int init(struct graft_error *error) {
    (void)error;
    const struct graft_args *given = host->options(&plugin);
    int4_set_group_size(graft_args_int(given, "group_size", 32));
    input_bits = graft_packed_input_bits(given);
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
