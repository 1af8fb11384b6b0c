/* SPDX-License-Identifier: Apache-2.0 */
/*
 * StarCoder2 (Lozhkov et al. 2024): Llama with LayerNorms, with biases, with an MLP without a gate, and with a window
 * in every layer.
 */
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/family.h"
#include "graft/layer_types.h"
#include "graft/parts.h"
#include "graft/plugin.h"
#include "graft/rotary.h"
#include "graft/sequence_classifier.h"
#include "graft/token_classifier.h"

static const struct graft_parts_mlp mlp = {.up = "c_fc", .down = "c_proj", .act = "act"};

static int model_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t windows[GRAFT_PARTS_MAX_LAYERS];
    int64_t layers = 0;
    (void)self;
    (void)args;
    int status = graft_config_need_int(config, "num_hidden_layers", 1, GRAFT_PARTS_MAX_LAYERS, &layers, error);
    if (status == GRAFT_OK) {
        status = graft_same_windows(config, layers, windows, error);
    }
    const struct graft_arg item = graft_ints_arg("windows", windows, (int32_t)layers);
    const struct graft_args more = graft_args_of(&item, 1);
    return status == GRAFT_OK ? sink->base(sink->data, &more, error) : status;
}

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("Starcoder2ForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM)},
    {GRAFT_DERIVED_CLASS("Starcoder2ForSequenceClassification", "LlamaForSequenceClassification",
                         GRAFT_INTERFACE_SEQUENCE_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("Starcoder2ForTokenClassification", "LlamaForTokenClassification",
                         GRAFT_INTERFACE_TOKEN_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("Starcoder2Model", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL), .describe = model_describe},
    {GRAFT_DERIVED_CLASS("Starcoder2DecoderLayer", "LlamaDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER)},
    {GRAFT_DERIVED_CLASS("Starcoder2Attention", "LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION)},
    {GRAFT_PARTS_CLASS("Starcoder2MLP", GRAFT_INTERFACE_MLP, graft_parts_mlp), .base = "LlamaMLP", .data = &mlp},
    {GRAFT_DERIVED_CLASS("Starcoder2RotaryEmbedding", "LlamaRotaryEmbedding", GRAFT_INTERFACE_ROTARY)},
};

static const struct graft_stand_in layer_norm = {.name = "LlamaRMSNorm", .class_name = "LayerNorm"};

static const struct graft_architecture architectures[] = {{"Starcoder2ForCausalLM", NULL},
                                                          {"Starcoder2Model", NULL},
                                                          {"Starcoder2ForSequenceClassification", NULL},
                                                          {"Starcoder2ForTokenClassification", NULL}};

/* Names and defaults that differ from Llama's. */
static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 49152},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 3072},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 12288},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 30},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 24},
    {.name = "num_key_value_heads", .kind = GRAFT_FIELD_INT, .integer = 2},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 4096},
    {.name = "rms_norm_eps", .alias = "norm_epsilon", .kind = GRAFT_FIELD_REAL, .real = 1e-5},
    {.name = "attention_bias", .alias = "use_bias", .kind = GRAFT_FIELD_BOOL, .integer = 1},
    {.name = "mlp_bias", .alias = "use_bias", .kind = GRAFT_FIELD_BOOL, .integer = 1},
    {.name = "hidden_act", .kind = GRAFT_FIELD_STRING, .string = "gelu_pytorch_tanh"},
    {.name = "tie_word_embeddings", .kind = GRAFT_FIELD_BOOL, .integer = 1},
};

static const struct graft_field_rule field_rules[] = {
    {.name = "residual_dropout"},
    /* The class has LayerNorms and an MLP without a gate, whatever these say; hidden_act is asked for. */
    {.name = "activation_function"},
    {.name = "mlp_type", .values = "[\"default\"]"},
    {.name = "norm_type", .values = "[\"layer_norm\"]"},
};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "starcoder2",
    .base_model_prefix = "model",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
    .stand_ins = &layer_norm,
    .n_stand_ins = 1,
    .stand_in_stride = sizeof layer_norm,
    GRAFT_FIELD_RULES(field_rules),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "starcoder2",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type starcoder2",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
