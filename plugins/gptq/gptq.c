/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of GPTQ checkpoints (quant_method "gptq"), and of AutoRound checkpoints in the same layout ("auto-round").
 * Version 1 stores zero points minus one, version 2 unchanged. With act-order (`desc_act`), `g_idx` assigns each input
 * to a group. */
#include "dynamic.h"
#include "graft/auto_round.h"
#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/plugin.h"
#include "graft/word_codes.h"

static const struct graft_host *host;
static const struct graft_regexes *regexes;
static int32_t input_bits;

/* AutoRound's names for the layouts of version 1 and version 2. */
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

/* Reads the layout and refuses those that are not supported. AutoGPTQ and vLLM name it in `checkpoint_format`,
 * transformers and GPTQModel in `format`. */
static int read_format(const struct graft_config *config, struct graft_codec *codec, struct graft_error *error) {
    static const char *const names[] = {"checkpoint_format", "format", "version", NULL};
    static const char *const words[] = {"int32", NULL};
    char format[GRAFT_QUANTIZATION_TEXT] = "gptq", path[GRAFT_QUANTIZATION_PATH];
    const char *layout = graft_auto_round_layout(config);
    int32_t is_marlin = 0;
    if (layout != NULL) {
        codec->zero = !has_layout_2(layout);
        return GRAFT_OK;
    }
    graft_quantization_text(config, names, format, path, error);
    if (strcmp(format, "gptq") != 0 && strcmp(format, "gptq_v2") != 0) {
        graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected \"gptq\" or \"gptq_v2\", got \"%s\"",
                        path, format);
    }
    codec->zero = strcmp(format, "gptq") == 0;
    graft_quantization_only(config, "pack_dtype", words, error);
    graft_config_bool(config, "quantization_config.is_marlin_format", &is_marlin, error);
    return is_marlin ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                       "quantization_config.is_marlin_format: expected false, got true")
                     : error->code;
}

/* Writes to `place` the path of the object in config.json that has the quantization fields of the module `path`:
 * AutoRound and `dynamic` may have one for a single module. */
static int find_place(const struct graft_config *config, const char *path, char place[GPTQ_PLACE],
                      struct graft_error *error) {
    return graft_auto_round_layout(config) != NULL ? graft_auto_round_read(config, regexes, path, place, error)
                                                   : gptq_find_place(config, regexes, path, place, error);
}

/* Without act-order, current tools leave out `g_idx`. */
static void add_groups(struct graft_scheme *scheme, int32_t is_ordered) {
    struct graft_parameter_info *info =
        graft_scheme_add(scheme, GRAFT_CODED_GROUP_INDEX, "g_idx", GRAFT_DTYPE_I32, 1, &scheme->codec.columns);
    info->flags = GRAFT_PARAMETER_CONTIGUOUS;
    info->init = is_ordered ? GRAFT_INIT_NONE : GRAFT_INIT_ABSENT;
    info->join = graft_join_whole(GRAFT_JOIN_EQUAL);
    if (!is_ordered) { /* with act-order, a part of the inputs may need the scales of any group */
        info->inputs = graft_join_rows(0, 1);
    }
}

/* Drops `g_idx` if inputs are in the order of their groups. For a part of a module's inputs, `g_idx` has the group
 * numbers of the whole module, so groups are counted from the first input's. */
static int drop_later_groups(const struct graft_build *build, const void *context, struct graft_codec *codec,
                             struct graft_error *error) {
    const int32_t *g_idx = codec->group_index != NULL ? graft_weight_block(codec->group_index, 0)->data : NULL;
    int64_t i = 0;
    (void)build;
    (void)context;
    (void)error;
    while (g_idx != NULL && i < codec->columns && (int64_t)g_idx[i] - g_idx[0] == i / codec->group_size) {
        i++;
    }
    if (i == codec->columns) {
        codec->group_index = NULL;
    }
    return GRAFT_OK;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    struct graft_codec *codec = &scheme.codec;
    char place[GPTQ_PLACE];
    int32_t is_ordered = 0;
    (void)cls;
    graft_scheme_of_linear(&scheme, args, sink->path, error);
    find_place(config, sink->config_path, place, error);
    if (error->code == GRAFT_OK) {
        graft_word_codes_read(&scheme, config, place, sink->path, 0x1fc, error);
    }
    read_format(config, codec, error);
    graft_config_bool(config, "quantization_config.desc_act", &is_ordered, error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    const int64_t words[2] = {codec->columns * codec->bits / 32, codec->rows};
    codec->layout = GRAFT_CODED_COLUMN_WORDS;
    codec->input_bits = input_bits;
    graft_word_codes_add(&scheme, words, 1);
    add_groups(&scheme, is_ordered);
    if (graft_args_int(args, "whole_in_features", codec->columns) > codec->columns) {
        scheme.finish = drop_later_groups;
    }
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

/* --- Descriptor --- */

static const struct graft_class gptq_linear_class = GRAFT_SCHEME_LINEAR_CLASS("GPTQLinear", describe);

/* Checkpoints of this method store each expert's Linears separately, so the experts are a list of modules. */
GRAFT_PARTS_LISTED_EXPERT_CLASSES("GPTQMoeMLP", "GPTQExperts");

static const char *const methods[] = {"gptq", GRAFT_AUTO_ROUND_METHODS, NULL};
static const char *const gptq[] = {"gptq", NULL};
static const char *const layouts[] = {LAYOUTS_1, LAYOUTS_2, NULL};

GRAFT_AUTO_ROUND_REPLACEMENTS(&gptq_linear_class, &experts_class, gptq, layouts);

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
    /* Fields that say how the numbers were found, and fields that the tensors imply: zero points, the order of inputs,
       which modules are quantized. */
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
    /* Fields that choose how the reference computes; they do not change the results. */
    {.name = "quantization_config.backend"},
    {.name = "quantization_config.cache_block_outputs"},
    {.name = "quantization_config.disable_exllama"},
    {.name = "quantization_config.exllama_config"},
    {.name = "quantization_config.max_input_length"},
    {.name = "quantization_config.use_cuda_fp16"},
    {.name = "quantization_config.use_exllama"},
    {.name = "quantization_config.pack_dtype", .values = "[\"int32\"]", .flags = GRAFT_FIELD_ONLY},
    {.name = "quantization_config.is_marlin_format", .values = "[false]", .flags = GRAFT_FIELD_ONLY},
    GRAFT_AUTO_ROUND_FIELD_RULES,
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
