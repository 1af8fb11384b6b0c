/* SPDX-License-Identifier: Apache-2.0 */
/* Linears of AWQ checkpoints (quant_method "awq", version "gemm"), and of AutoRound checkpoints in the same layout
 * ("auto-round"). */
#include "graft/auto_round.h"
#include "graft/expert_parts.h"
#include "graft/field_rule.h"
#include "graft/plugin.h"
#include "graft/word_codes.h"

static const struct graft_host *host;
static const struct graft_regexes *regexes;
static int32_t input_bits;

/* Refuses every layout but "gemm". AutoAWQ names the layout in `version`, transformers in `format`. */
static int check_format(const struct graft_config *config, struct graft_error *error) {
    static const char *const names[] = {"version", "format", "checkpoint_format", NULL};
    static const char *const words[] = {"int32", NULL};
    char format[GRAFT_QUANTIZATION_TEXT] = "gemm", path[GRAFT_QUANTIZATION_PATH];
    const char *backend = config->string(config->data, "quantization_config.backend");
    if (graft_auto_round_layout(config) != NULL) {
        return GRAFT_OK;
    }
    graft_quantization_text(config, names, format, path, error);
    if (strcmp(format, "gemm") != 0) {
        graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected \"gemm\", got \"%s\"", path, format);
    }
    if (backend != NULL && strcmp(backend, "llm-awq") == 0) {
        graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                        "quantization_config.backend: the layout of \"%s\" is not read by this plugin", backend);
    }
    graft_quantization_only(config, "pack_dtype", words, error);
    return error->code;
}

/* Writes to `place` the path of the object in config.json that has the quantization fields of the module `path`.
 * AutoRound may have one for a single module. */
static int find_place(const struct graft_config *config, const char *path, char place[GRAFT_AUTO_ROUND_PLACE],
                      struct graft_error *error) {
    (void)snprintf(place, GRAFT_AUTO_ROUND_PLACE, "quantization_config");
    return graft_auto_round_layout(config) != NULL ? graft_auto_round_read(config, regexes, path, place, error)
                                                   : GRAFT_OK;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    struct graft_codec *codec = &scheme.codec;
    char place[GRAFT_AUTO_ROUND_PLACE];
    (void)cls;
    graft_scheme_of_linear(&scheme, args, sink->path, error);
    find_place(config, sink->config_path, place, error);
    if (error->code == GRAFT_OK) {
        codec->bits = graft_auto_round_layout(config) != NULL ? 0 : 4; /* the default */
        graft_word_codes_read(&scheme, config, place, sink->path, 1 << 4, error);
    }
    check_format(config, error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    const int64_t words[2] = {codec->columns, codec->rows / 8};
    codec->layout = GRAFT_CODED_ROW_WORDS;
    codec->input_bits = input_bits;
    graft_word_codes_add(&scheme, words, 8);
    return graft_scheme_describe_linear(&scheme, args, sink, error);
}

/* --- Descriptor --- */

static const struct graft_class awq_linear_class = GRAFT_SCHEME_LINEAR_CLASS("AWQLinear", describe);

/* Checkpoints of this method store each expert's Linears separately, so the experts are a list of modules. */
GRAFT_PARTS_LISTED_EXPERT_CLASSES("AWQMoeMLP", "AWQExperts");

static const char *const methods[] = {"awq", GRAFT_AUTO_ROUND_METHODS, NULL};
static const char *const awq[] = {"awq", NULL};
static const char *const layouts[] = {"auto_round:auto_awq",
                                      "auto_round:awq",
                                      "auto_round:auto_awq:gemm",
                                      "auto_round:awq:gemm",
                                      "auto_awq",
                                      "auto_awq:gemm",
                                      NULL};

GRAFT_AUTO_ROUND_REPLACEMENTS(&awq_linear_class, &experts_class, awq, layouts);

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
    /* The tensors show which modules are quantized, so lists of names are not needed. */
    {.name = "quantization_config.modules_to_not_convert"},
    {.name = "quantization_config.zero_point", .values = "[true]"},
    {.name = "quantization_config.sym", .values = "[false]"},
    /* Fields that choose how the reference computes; they do not change the results. */
    {.name = "quantization_config.do_fuse"},
    {.name = "quantization_config.exllama_config"},
    {.name = "quantization_config.fuse_max_seq_len"},
    {.name = "quantization_config.modules_to_fuse"},
    {.name = "quantization_config.block_name_to_quantize"},
    {.name = "quantization_config.dataset"},
    GRAFT_AUTO_ROUND_FIELD_RULES,
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "awq",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears of AWQ checkpoints and AutoRound's, multiplied from their packed form",
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
