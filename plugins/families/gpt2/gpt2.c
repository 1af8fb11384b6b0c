/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPT-2 (Radford et al. 2019): learned positions, LayerNorms with biases before attention and MLP, one projection for
 * queries, keys and values, an MLP without a gate. Checkpoints hold projections as [in, out].
 */
#include "graft/encoder_parts.h"
#include "graft/family.h"
#include "graft/parts.h"
#include "graft/plugin.h"

/* --- Attention, with scores scaled as config.json says --- */

static int read_scaling(const struct graft_config *config, struct graft_parts_attention_sizes *sizes,
                        struct graft_error *error) {
    int32_t by_width = 1;
    int32_t by_layer = 0;
    int status = graft_config_bool(config, "scale_attn_weights", &by_width, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "scale_attn_by_inverse_layer_idx", &by_layer, error);
    }
    double scale = by_width ? sizes->scaling : 1.0;
    sizes->scaling = by_layer ? scale / (double)(sizes->layer + 1) : scale;
    return status;
}

static int attention_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_parts_attention_sizes sizes;
    int status = graft_parts_read_attention_sizes(args, sink->path, &sizes, error);
    if (status == GRAFT_OK) {
        status = read_scaling(config, &sizes, error);
    }
    return status == GRAFT_OK ? graft_parts_fused_attention_declare(self->data, &sizes, sink, error) : status;
}

/* --- Descriptor --- */

/* Transposes projections while loading, from [in, out] to the [out, in] of a Linear. Classes that replace one of those
 * below get transposed weights as well. */
static const struct graft_operation transpose[] = {
    {.struct_size = sizeof(struct graft_operation), .kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1}};

#define TRANSPOSING(name)                                                                                    \
    {                                                                                                        \
        .struct_size = sizeof(struct graft_conversion), .n_sources = 1, .sources = name, .n_targets = 1,     \
        .targets = name, .n_operations = 1, .operations = transpose, .operation_stride = sizeof transpose[0] \
    }

static const char *const c_attn[] = {"c_attn.weight"};
static const char *const c_fc[] = {"c_fc.weight"};
static const char *const c_proj[] = {"c_proj.weight"};
static const struct graft_conversion attention_conversions[] = {TRANSPOSING(c_attn), TRANSPOSING(c_proj)};
static const struct graft_conversion mlp_conversions[] = {TRANSPOSING(c_fc), TRANSPOSING(c_proj)};

static const struct graft_parts_causal_lm causal_lm = {
    .model = "transformer",
    .model_class = "GPT2Model",
    .tied_weight = "transformer.wte.weight",
    .learned_positions = 1,
};
static const struct graft_parts_encoder_root sequence_classifier = {
    .model = "transformer", .model_class = "GPT2Model", .decoder = "score", .learned_positions = 1};
static const struct graft_parts_encoder_root token_classifier = {
    .model = "transformer", .model_class = "GPT2Model", .decoder = "classifier", .learned_positions = 1};
static const struct graft_parts_encoder_root answerer = {
    .model = "transformer", .model_class = "GPT2Model", .decoder = "qa_outputs", .learned_positions = 1};
static const struct graft_parts_model model = {
    .embeddings = "wte",
    .position_embeddings = "wpe",
    .layers = "h",
    .layer_class = "GPT2Block",
    .norm = "ln_f",
    .norm_class = "LayerNorm",
};
static const struct graft_parts_layer block = {
    .attention = "attn",
    .attention_class = "GPT2Attention",
    .attention_norm = "ln_1",
    .mlp = "mlp",
    .mlp_class = "GPT2MLP",
    .mlp_norm = "ln_2",
    .norm_class = "LayerNorm",
};
static const struct graft_parts_fused_attention attention = {.qkv = "c_attn", .output = "c_proj"};
static const struct graft_parts_mlp mlp = {.up = "c_fc", .down = "c_proj", .act = "act"};

static const struct graft_class classes[] = {
    {GRAFT_PARTS_CLASS("GPT2LMHeadModel", GRAFT_INTERFACE_CAUSAL_LM, graft_parts_causal_lm), .data = &causal_lm},
    {GRAFT_PARTS_SEQUENCE_CLASSIFIER("GPT2ForSequenceClassification", graft_parts_decoder_sequences),
     .data = &sequence_classifier},
    {GRAFT_PARTS_TOKEN_CLASSIFIER("GPT2ForTokenClassification", graft_parts_decoder_tokens), .data = &token_classifier},
    {GRAFT_PARTS_TOKEN_CLASSIFIER("GPT2ForQuestionAnswering", graft_parts_decoder_answers), .data = &answerer},
    {GRAFT_PARTS_CLASS("GPT2Model", GRAFT_INTERFACE_BASE_MODEL, graft_parts_model), .data = &model},
    {GRAFT_PARTS_CLASS("GPT2Block", GRAFT_INTERFACE_DECODER_LAYER, graft_parts_layer), .data = &block},
    {.struct_size = sizeof(struct graft_class),
     .name = "GPT2Attention",
     .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
     .describe = attention_describe,
     GRAFT_PARTS_INSTANCE(graft_parts_fused_attention),
     GRAFT_CLASS_CONVERSIONS(attention_conversions),
     .data = &attention},
    {GRAFT_PARTS_CLASS("GPT2MLP", GRAFT_INTERFACE_MLP, graft_parts_mlp), GRAFT_CLASS_CONVERSIONS(mlp_conversions),
     .data = &mlp},
};

static const struct graft_architecture architectures[] = {{"GPT2LMHeadModel", NULL},
                                                          {"GPT2Model", NULL},
                                                          {"GPT2ForSequenceClassification", NULL},
                                                          {"GPT2ForTokenClassification", NULL},
                                                          {"GPT2ForQuestionAnswering", NULL}};

/* GPT-2 has no groups of heads, and n_inner is the only name of the MLP's width: other fields of config.json for these
 * are ignored. */
static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 50257},
    {.name = "hidden_size", .alias = "n_embd", .kind = GRAFT_FIELD_INT, .integer = 768},
    {.name = "num_hidden_layers", .alias = "n_layer", .kind = GRAFT_FIELD_INT, .integer = 12},
    {.name = "num_attention_heads", .alias = "n_head", .kind = GRAFT_FIELD_INT, .integer = 12},
    {.name = "max_position_embeddings", .alias = "n_positions", .kind = GRAFT_FIELD_INT, .integer = 1024},
    {.name = "intermediate_size", .alias = "n_inner", .flags = GRAFT_FIELD_RENAMED},
    {.name = "num_key_value_heads", .alias = "n_head", .flags = GRAFT_FIELD_RENAMED},
    {.name = "layer_norm_eps", .alias = "layer_norm_epsilon"},
    {.name = "hidden_act", .alias = "activation_function", .kind = GRAFT_FIELD_STRING, .string = "gelu_new"},
    {.name = "tie_word_embeddings", .kind = GRAFT_FIELD_BOOL, .integer = 1},
};

/* The causal mask, which older checkpoints hold. */
static const char *const ignored_tensors[] = {"(^|\\.)h\\.[0-9]+\\.attn\\.(masked_)?bias$", NULL};

static const struct graft_field_rule field_rules[] = {
    /* Fields of GPT2DoubleHeadsModel, and one for the order of arithmetic in the reference. */
    {.name = "reorder_and_upcast_attn"},
    {.name = "summary_activation"},
    {.name = "summary_first_dropout"},
    {.name = "summary_proj_to_labels"},
    {.name = "summary_type"},
    {.name = "summary_use_proj"},
    /* The width of an MLP is n_inner, whatever this field says. */
    {.name = "intermediate_size"},
    /* Repeats n_positions. */
    {.name = "n_ctx"},
};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "gpt2",
    .base_model_prefix = "transformer",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
    .ignored_tensors = ignored_tensors,
    GRAFT_FIELD_RULES(field_rules),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "gpt2",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type gpt2",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
