/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of AWQ checkpoints (quant_method "awq", version "gemm"), read where they lie in the file or, with the option
 * `rows`, laid in rows while the model is loaded. */
#include <stdlib.h>

#include "graft/expert_parts.h"
#include "graft/option.h"
#include "graft/packed_linear.h"
#include "graft/plugin.h"
#include "loops.h"
#include "rows.h"

static const struct graft_host *host;
static int32_t wants_rows, input_bits;

static const struct graft_packed_loops *const tables[] = GRAFT_ISA_ALL_TABLES(awq_loops);

static int check_format(const struct graft_config *config, const struct graft_packed *packed,
                        struct graft_error *error) {
    static const char field[] = "quantization_config.version";
    const char *version = "gemm";
    int status = graft_config_string(config, field, &version, error);
    if (status == GRAFT_OK && strcmp(version, "gemm") != 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected \"gemm\", got \"%s\"", field,
                                 version);
    }
    return status == GRAFT_OK && packed->bits != 4
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "quantization_config.bits: expected 4, got %d",
                                 (int)packed->bits)
               : status;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_packed_linear *self = sink->keep(sink->data, sizeof *self, error); /* for `create` */
    (void)cls;
    int status = self != NULL ? graft_packed_sizes(config, "quantization_config", args, sink->path, &self->words, error)
                              : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = check_format(config, &self->words, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    self->words.input_bits = input_bits;
    if (wants_rows) {
        graft_packed_linear_lay(self);
    }
    const int64_t words[2] = {self->words.in_features, self->words.out_features / 8};
    return graft_packed_linear_describe(sink, self, args, words, 8, error);
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct graft_packed_linear *self = NULL;
    (void)cls;
    int status = graft_packed_linear_create(build, graft_packed_choose(tables, sizeof tables / sizeof tables[0]),
                                            graft_packed_rows_choose(graft_packed_rows_uint4), &self, error);
    *instance = self;
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return graft_packed_linear_forward(instance, call, args, error);
}

static int as_loop(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_loop *loop, struct graft_error *error) {
    return graft_packed_linear_as_loop(instance, call, args, loop, error);
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward, .as_loop = as_loop};

/* --- Rows --- */

static const struct graft_operation codes_in_rows = {
    .struct_size = sizeof codes_in_rows, .kind = GRAFT_OP_CUSTOM, .custom = &awq_operations[AWQ_CODES]};
static const struct graft_operation zeros_in_rows = {
    .struct_size = sizeof zeros_in_rows, .kind = GRAFT_OP_CUSTOM, .custom = &awq_operations[AWQ_ZEROS]};
static const struct graft_operation transpose = {
    .struct_size = sizeof transpose, .kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1};

static const struct graft_conversion conversions[] =
    GRAFT_PACKED_LINEAR_CONVERSIONS(&codes_in_rows, &zeros_in_rows, &transpose);

/* --- What the host is told --- */

static const struct graft_class awq_linear_class = {
    .struct_size = sizeof awq_linear_class,
    .name = "AWQLinear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
    .conversions = conversions,
    .n_conversions = sizeof conversions / sizeof conversions[0],
    .conversion_stride = sizeof conversions[0],
};

/* Experts that the checkpoint has one by one: stacked parameters cannot hold them. */
static const struct graft_class expert_class = {GRAFT_PARTS_EXPERT_CLASS("AWQMoeMLP")};

static const struct graft_parts_expert_list list = {"AWQMoeMLP"};

static const struct graft_class experts_class = {
    GRAFT_PARTS_CLASS("AWQExperts", GRAFT_INTERFACE_EXPERTS, graft_parts_expert_list), .data = &list};

static const char *const methods[] = {"awq", NULL};
static const char *const packed_tensors[] = {"qweight", "weight_packed", NULL};
static const char *const expert_tensors[] = {"0.gate_proj.qweight", "0.w1.qweight", "0.gate_proj.weight_packed",
                                             "0.w1.weight_packed", NULL};

static const struct graft_condition conditions[][2] = {
    {
        {sizeof conditions[0][0], GRAFT_CONDITION_CONFIG, "quantization_config.quant_method", methods},
        {sizeof conditions[0][0], GRAFT_CONDITION_TENSOR, NULL, packed_tensors},
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
        .replacement = &awq_linear_class,
        .conditions = conditions[0],
        .n_conditions = 2,
        .condition_stride = sizeof conditions[0][0],
    },
    {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, conditions[1])},
};

static const struct graft_option options[] = {
    {
        .struct_size = sizeof options[0],
        .kind = GRAFT_OPTION_BOOL,
        .name = "rows",
        .help = "Lays codes in rows while the model is loaded, which makes it generate faster",
        .default_value = "false",
    },
    {GRAFT_PACKED_ACTIVATION_BITS("16")},
};

static const char *const required[] = {GRAFT_THREADS_ID, NULL};

static const struct graft_plugin plugin;

static int init(struct graft_error *error) {
    (void)error;
    const struct graft_args *given = host->options(&plugin);
    wants_rows = (int32_t)graft_args_int(given, "rows", 0);
    input_bits = graft_packed_input_bits(given);
    awq_set_threads(host->get_extension(GRAFT_THREADS_ID));
    return GRAFT_OK;
}

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "awq",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of AWQ checkpoints, multiplied from their packed form",
    .requires_extensions = required,
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .classes = &expert_class,
    .n_classes = 1,
    .class_stride = sizeof expert_class,
    .init = init,
    .custom_operations = awq_operations,
    .n_custom_operations = AWQ_OPERATIONS,
    .custom_operation_stride = sizeof awq_operations[0],
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .option_stride = sizeof options[0],
    .quant_methods = methods,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
