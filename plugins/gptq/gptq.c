/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linears of GPTQ checkpoints (quant_method "gptq"), and of AutoRound's in the same layout ("auto-round"), read where
 * they lie in the file or, with the option `rows`, laid in rows while the model is loaded. Version 1 stores zero points
 * less one, version 2 as they are. With act-order (`desc_act`) groups are any inputs, as `g_idx` says.
 */
#include <stdlib.h>

#include "dynamic.h"
#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/option.h"
#include "graft/packed_auto_round.h"
#include "graft/packed_linear.h"
#include "graft/plugin.h"
#include "loops.h"
#include "widen.h"

static const struct graft_host *host;
static const struct graft_regexes *regexes;
static int32_t wants_rows, input_bits;

static const struct graft_packed_loops *const tables[] = GRAFT_ISA_ALL_TABLES(gptq_loops);

/* AutoRound's names for the layout of version 1, and for that of version 2. */
#define LAYOUTS_1                                                                                             \
    "auto_round:auto_gptq", "auto_round:gptq", "auto_round:auto_gptq:exllamav2", "auto_round:gptq:exllamav2", \
        "auto_round:auto_gptq:tritonv2", "auto_round:gptq:tritonv2", "auto_round:auto_gptq:cuda",             \
        "auto_round:gptq:cuda", "auto_gptq", "auto_gptq:exllamav2", "auto_gptq:tritonv2", "auto_gptq:cuda"
#define LAYOUTS_2 "auto_round", "auto_round:gptqmodel", "auto_round:exllamav2", "auto_round:tritonv2"

static int has_layout_2(const char *layout) {
    static const char *const layouts[] = {LAYOUTS_2};
    size_t i = 0;
    while (i < sizeof layouts / sizeof layouts[0] && strcmp(layouts[i], layout) != 0) {
        i++;
    }
    return i < sizeof layouts / sizeof layouts[0];
}

/* The layout, and what else would be one. AutoGPTQ and vLLM call it checkpoint_format, transformers and GPTQModel
 * format. */
static int read_format(const struct graft_config *config, struct graft_packed *packed, struct graft_error *error) {
    static const char *const names[] = {"checkpoint_format", "format", "version", NULL};
    static const char *const words[] = {"int32", NULL};
    char format[GRAFT_QUANTIZATION_TEXT] = "gptq", path[GRAFT_QUANTIZATION_PATH];
    const char *layout = graft_auto_round_layout(config);
    int32_t is_marlin = 0;
    if (layout != NULL) {
        packed->zero_offset = !has_layout_2(layout);
        return GRAFT_OK;
    }
    int status = graft_quantization_text(config, names, format, path, error);
    if (status == GRAFT_OK && strcmp(format, "gptq") != 0 && strcmp(format, "gptq_v2") != 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: expected \"gptq\" or \"gptq_v2\", got \"%s\"", path, format);
    }
    packed->zero_offset = strcmp(format, "gptq") == 0;
    if (status == GRAFT_OK) {
        status = graft_quantization_only(config, "pack_dtype", words, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "quantization_config.is_marlin_format", &is_marlin, error);
    }
    return status == GRAFT_OK && is_marlin
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "quantization_config.is_marlin_format: expected false, got true")
               : status;
}

/* Where the config has the fields of the module that it calls `path`. */
static int find_place(const struct graft_config *config, const char *path, char place[GPTQ_PLACE],
                      struct graft_error *error) {
    return graft_auto_round_layout(config) != NULL ? graft_auto_round_read(config, regexes, path, place, error)
                                                   : gptq_find_place(config, regexes, path, place, error);
}

/* Without act-order, tools of today leave `g_idx` out. */
static int describe_groups(const struct graft_sink *sink, const struct graft_packed *packed, int32_t is_ordered,
                           struct graft_error *error) {
    const struct graft_parameter_info info = {
        .struct_size = sizeof info,
        .flags = GRAFT_PARAMETER_CONTIGUOUS,
        .name = "g_idx",
        .rank = 1,
        .init = is_ordered ? GRAFT_INIT_NONE : GRAFT_INIT_ABSENT,
        .shape = {packed->in_features},
        .dtype = GRAFT_DTYPE_I32,
        .join = graft_join_whole(GRAFT_JOIN_EQUAL),
    };
    return sink->parameter(sink->data, &info, error);
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_packed_linear *self = sink->keep(sink->data, sizeof *self, error); /* for `create` */
    char place[GPTQ_PLACE];
    int32_t is_ordered = 0;
    (void)cls;
    int status = self != NULL ? find_place(config, sink->config_path, place, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = graft_packed_sizes_of(config, place, args, sink->path, 0x1fc, &self->words, error);
    }
    if (status == GRAFT_OK) {
        status = read_format(config, &self->words, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "quantization_config.desc_act", &is_ordered, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const int32_t stored_bits = self->words.bits;
    self->words.bits = gptq_wide(stored_bits);
    if (self->words.bits != stored_bits) {
        status = gptq_describe_widening(sink, stored_bits, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    self->words.input_bits = input_bits;
    if (wants_rows && !is_ordered && self->words.bits == stored_bits) {
        graft_packed_linear_lay(self);
    }
    const int64_t words[2] = {self->words.in_features * self->words.bits / 32, self->words.out_features};
    /* Codes that become wider are not joined with others: each part's conversion is its own. */
    const int64_t word_rows = self->words.bits != stored_bits ? INT32_MAX : 1;
    status = graft_packed_linear_describe(sink, self, args, words, word_rows, error);
    return status == GRAFT_OK ? describe_groups(sink, &self->words, is_ordered, error) : status;
}

/* Checks g_idx, which counts where it is there and not input / group_size. Of a part of the inputs it begins with a
 * later group. */
static int read_groups(struct graft_packed_linear *linear, const struct graft_build *build, struct graft_error *error) {
    struct graft_packed *self = &linear->words;
    int in_order = 1, status = GRAFT_OK;
    const struct graft_weight *weight = build->weight(build->data, "g_idx"); /* or NULL */
    const int32_t *g_idx = weight != NULL ? graft_weight_block(weight, 0)->data : NULL;
    int is_part = graft_args_int(build->args, "whole_in_features", self->in_features) > self->in_features;
    const int64_t first = g_idx != NULL && is_part ? g_idx[0] : 0;
    for (int64_t i = 0; g_idx != NULL && i < self->in_features; i++) {
        in_order &= g_idx[i] - first == i / self->group_size;
    }
    for (int64_t i = 0; status == GRAFT_OK && !in_order && i < self->in_features; i++) {
        if (g_idx[i] < 0 || g_idx[i] >= self->groups) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, build->path,
                                     "g_idx: element %lld is %d, expected a group, 0 to %lld", (long long)i,
                                     (int)g_idx[i], (long long)self->groups - 1);
        }
    }
    self->group_of = in_order ? NULL : g_idx;
    linear->rows.group_of = self->group_of;
    return status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct graft_packed_linear *self = NULL;
    (void)cls;
    int status = graft_packed_linear_create(build, graft_packed_choose(tables, sizeof tables / sizeof tables[0]),
                                            graft_packed_rows_choose(graft_packed_rows_uint4), &self, error);
    if (status == GRAFT_OK) {
        status = read_groups(self, build, error);
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
    return graft_packed_linear_forward(instance, call, args, error);
}

static int as_loop(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_loop *loop, struct graft_error *error) {
    return graft_packed_linear_as_loop(instance, call, args, loop, error);
}

static void read_rows(void *instance, int64_t first, int64_t n, float *weight, float *bias) {
    graft_packed_linear_read(instance, first, n, weight, bias);
}

static const struct graft_linear vtable = {
    .struct_size = sizeof vtable, .forward = forward, .as_loop = as_loop, .read_rows = read_rows};

/* --- Rows: an output's words, from the first input on, are a column --- */

static const struct graft_operation transpose = {
    .struct_size = sizeof transpose, .kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1};

static const struct graft_conversion conversions[] =
    GRAFT_PACKED_LINEAR_CONVERSIONS(&transpose, &transpose, &transpose);

/* --- What the host is told --- */

static const struct graft_class gptq_linear_class = {
    .struct_size = sizeof gptq_linear_class,
    .name = "GPTQLinear",
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
static const struct graft_class expert_class = {GRAFT_PARTS_EXPERT_CLASS("GPTQMoeMLP")};

static const struct graft_parts_expert_list list = {"GPTQMoeMLP"};

static const struct graft_class experts_class = {
    GRAFT_PARTS_CLASS("GPTQExperts", GRAFT_INTERFACE_EXPERTS, graft_parts_expert_list), .data = &list};

static const char *const methods[] = {"gptq", GRAFT_AUTO_ROUND_METHODS, NULL};
static const char *const gptq[] = {"gptq", NULL}, *const auto_round[] = {GRAFT_AUTO_ROUND_METHODS, NULL};
static const char *const layouts[] = {LAYOUTS_1, LAYOUTS_2, NULL};
static const char *const other_types[] = {GRAFT_AUTO_ROUND_OTHER_TYPES, NULL};
static const char *const packed_tensors[] = {"qweight", "weight_packed", NULL};
static const char *const expert_tensors[] = {"0.gate_proj.qweight", "0.w1.qweight", "0.gate_proj.weight_packed",
                                             "0.w1.weight_packed", NULL};

static const struct graft_condition conditions[][2] = {
    {
        {sizeof conditions[0][0], GRAFT_CONDITION_CONFIG, "quantization_config.quant_method", gptq},
        {sizeof conditions[0][0], GRAFT_CONDITION_TENSOR, NULL, packed_tensors},
    },
    {
        {sizeof conditions[0][0], GRAFT_CONDITION_CONFIG, "quantization_config.quant_method", gptq},
        {sizeof conditions[0][0], GRAFT_CONDITION_TENSOR, NULL, expert_tensors},
    },
};
static const struct graft_condition packing_format[][4] = {
    {GRAFT_AUTO_ROUND_PACKING_FORMAT(auto_round, other_types, layouts, packed_tensors)},
    {GRAFT_AUTO_ROUND_PACKING_FORMAT(auto_round, other_types, layouts, expert_tensors)},
};
static const struct graft_condition backend[][5] = {
    {GRAFT_AUTO_ROUND_BACKEND(auto_round, other_types, layouts, packed_tensors)},
    {GRAFT_AUTO_ROUND_BACKEND(auto_round, other_types, layouts, expert_tensors)},
};

#define LINEARS(array)                                                                                          \
    .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_NAME, .target = "Linear",                 \
    .replacement = &gptq_linear_class, .conditions = (array), .n_conditions = sizeof(array) / sizeof(array)[0], \
    .condition_stride = sizeof(array)[0]

static const struct graft_replacement replacements[] = {
    {LINEARS(conditions[0])},
    {LINEARS(packing_format[0])},
    {LINEARS(backend[0])},
    {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, conditions[1])},
    {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, packing_format[1])},
    {GRAFT_PARTS_LISTED_EXPERTS(&experts_class, backend[1])},
};

static const struct graft_option options[] = {
    {
        .struct_size = sizeof options[0],
        .kind = GRAFT_OPTION_BOOL,
        .name = "rows",
        .help = "Lays codes of 4 bits in rows while the model is loaded, which makes it generate faster",
        .default_value = "false",
    },
    {GRAFT_PACKED_ACTIVATION_BITS("16")},
};

static const char *const required[] = {GRAFT_REGEX_ID, NULL};

static const struct graft_plugin plugin;

static int init(struct graft_error *error) {
    (void)error;
    const struct graft_args *given = host->options(&plugin);
    wants_rows = (int32_t)graft_args_int(given, "rows", 0);
    input_bits = graft_packed_input_bits(given);
    regexes = host->get_extension(GRAFT_REGEX_ID);
    return GRAFT_OK;
}

static const struct graft_field_rule field_rules[] = {
    /* How the numbers were found. What they mean, the tensors say: zeros, the order of columns, which modules have
       them. */
    {.name = "quantization_config.act_group_aware"},
    {.name = "quantization_config.block_name_to_quantize"},
    {.name = "quantization_config.damp_auto_increment"},
    {.name = "quantization_config.damp_percent"},
    {.name = "quantization_config.dataset"},
    {.name = "quantization_config.lm_head"},
    {.name = "quantization_config.meta"},
    {.name = "quantization_config.model_file_base_name"},
    {.name = "quantization_config.model_name_or_path"},
    {.name = "quantization_config.model_seqlen"},
    {.name = "quantization_config.module_name_preceding_first_block"},
    {.name = "quantization_config.modules_in_block_to_quantize"},
    {.name = "quantization_config.mse"},
    {.name = "quantization_config.pad_token_id"},
    {.name = "quantization_config.static_groups"},
    {.name = "quantization_config.sym"},
    {.name = "quantization_config.tokenizer"},
    {.name = "quantization_config.true_sequential"},
    /* How the reference computes. */
    {.name = "quantization_config.backend"},
    {.name = "quantization_config.cache_block_outputs"},
    {.name = "quantization_config.disable_exllama"},
    {.name = "quantization_config.exllama_config"},
    {.name = "quantization_config.max_input_length"},
    {.name = "quantization_config.use_cuda_fp16"},
    {.name = "quantization_config.use_exllama"},
    {.name = "quantization_config.pack_dtype", .values = "[\"int32\"]", .flags = GRAFT_FIELD_ONLY},
    {.name = "quantization_config.is_marlin_format", .values = "[false]", .flags = GRAFT_FIELD_ONLY},
    /* What AutoRound writes about how it found the numbers, and of modules that have tensors like the others. */
    {.name = "quantization_config.amp"},
    {.name = "quantization_config.autoround_version"},
    {.name = "quantization_config.batch_size"},
    {.name = "quantization_config.data_type"},
    {.name = "quantization_config.enable_minmax_tuning"},
    {.name = "quantization_config.enable_norm_bias_tuning"},
    {.name = "quantization_config.enable_quanted_input"},
    {.name = "quantization_config.extra_config"},
    {.name = "quantization_config.gradient_accumulate_steps"},
    {.name = "quantization_config.iters"},
    {.name = "quantization_config.low_gpu_mem_usage"},
    {.name = "quantization_config.lr"},
    {.name = "quantization_config.minmax_lr"},
    {.name = "quantization_config.nsamples"},
    {.name = "quantization_config.scale_dtype"},
    {.name = "quantization_config.seqlen"},
    {.name = "quantization_config.to_quant_block_names"},
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "gptq",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of GPTQ checkpoints and AutoRound's, 2 to 8 bits, multiplied from their packed form",
    .requires_extensions = required,
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .classes = &expert_class,
    .n_classes = 1,
    .class_stride = sizeof expert_class,
    .init = init,
    .custom_operations = gptq_operations,
    .n_custom_operations = GPTQ_OPERATIONS,
    .custom_operation_stride = sizeof gptq_operations[0],
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .option_stride = sizeof options[0],
    .quant_methods = methods,
    GRAFT_FIELD_RULES(field_rules),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}
