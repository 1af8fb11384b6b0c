/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gemma 2 (Riviere et al. 2024): Llama with norms before and behind attention and MLP, which multiply by 1 + weight;
 * with bounds on scores and logits, embeddings that are scaled, and a window in every second layer. And the text model
 * of Gemma 3 (Kamath et al. 2025): without the bounds, with norms over the heads of queries and keys, windows in all
 * layers but every sixth, and angles of their own in layers with a window.
 */
#include <math.h>

#include "graft/describe.h"
#include "graft/family.h"
#include "graft/layer_types.h"
#include "graft/parts.h"
#include "graft/plugin.h"
#include "graft/sequence_classifier.h"
#include "graft/token_classifier.h"

/* --- Model, head and norm: Llama's, given what Llama does not know of config.json --- */

/* What the models differ in: the `data` of both. */
struct traits {
    int64_t period;            /* each period's last layer has no window */
    const char *period_field;  /* what config.json may call it; NULL: nothing */
    const char *softcap_field; /* the bound on scores; NULL: none */
    int32_t typed_rotary;
    int32_t runs_bidirectional; /* 1: use_bidirectional_attention is obeyed */
};

/* Whether `use_bidirectional_attention` is on. transformers builds masks for Gemma 2 that leave the field out, so only
 * implementations that build none obey it. */
static int read_both_ways(const struct traits *traits, const struct graft_config *config, int32_t *both_ways,
                          struct graft_error *error) {
    *both_ways = 0;
    int status = graft_config_bool(config, "use_bidirectional_attention", both_ways, error);
    if (status != GRAFT_OK || !*both_ways || traits->runs_bidirectional) {
        return status;
    }
    (void)graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                          "use_bidirectional_attention: true is not supported for this model type, where what it does "
                          "depends on the attention implementation");
    graft_error_hint(error, "where the model was trained like that, write is_causal: false instead");
    return GRAFT_ERROR_MODEL;
}

/* windows [GRAFT_PARTS_MAX_LAYERS], of which `layers` are used. */
static int read_windows(const struct traits *traits, const struct graft_config *config, int64_t *windows,
                        int64_t *layers, struct graft_error *error) {
    int64_t sliding_window = 0;
    int64_t period = traits->period;
    int status = graft_config_need_int(config, "num_hidden_layers", 1, GRAFT_PARTS_MAX_LAYERS, layers, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "sliding_window", 1, INT32_MAX, &sliding_window, error);
    }
    if (status == GRAFT_OK && traits->period_field != NULL) {
        status = graft_config_int(config, traits->period_field, 1, INT32_MAX, &period, error);
    }
    for (int64_t i = 0; i < *layers && status == GRAFT_OK; i++) {
        windows[i] = (i + 1) % period != 0 ? sliding_window : 0;
    }
    return status == GRAFT_OK ? graft_layer_windows(config, *layers, sliding_window, windows, error) : status;
}

/* With `use_bidirectional_attention` config.json's window is one to both sides, a half of it to either; with
 * `is_causal` false, too, transformers sees one key more. */
static int read_direction(const struct traits *traits, const struct graft_config *config, int64_t *windows,
                          int64_t layers, int32_t *bidirectional, struct graft_error *error) {
    int32_t is_causal = 1;
    int32_t both_ways = 0;
    int status = graft_config_bool(config, "is_causal", &is_causal, error);
    if (status == GRAFT_OK) {
        status = read_both_ways(traits, config, &both_ways, error);
    }
    for (int64_t i = 0; i < layers && both_ways && status == GRAFT_OK; i++) {
        int64_t side = windows[i] / 2 + !is_causal;
        if (windows[i] > 0 && side == 0) {
            status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                     "sliding_window: expected 2 or more with use_bidirectional_attention, got 1");
        }
        windows[i] = windows[i] > 0 ? side : 0;
    }
    *bidirectional = both_ways || !is_causal;
    return status;
}

static int model_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct traits *traits = self->data;
    int64_t windows[GRAFT_PARTS_MAX_LAYERS];
    int64_t layers = 0;
    double scalar = 0.0;
    double softcap = 0.0; /* null in config.json: none */
    int32_t bidirectional = 0;
    (void)args;
    int status = read_windows(traits, config, windows, &layers, error);
    if (status == GRAFT_OK) {
        status = graft_config_not_null(config, "query_pre_attn_scalar", "a number", error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_real(config, "query_pre_attn_scalar", 0.0, &scalar, error);
    }
    if (status == GRAFT_OK && traits->softcap_field != NULL) {
        status = graft_config_real(config, traits->softcap_field, 0.0, &softcap, error);
    }
    if (status == GRAFT_OK) {
        status = read_direction(traits, config, windows, layers, &bidirectional, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg items[] = {
        graft_ints_arg("windows", windows, (int32_t)layers),
        graft_real_arg("scaling", 1.0 / sqrt(scalar)),
        graft_real_arg("softcap", softcap),
        graft_int_arg("typed_rotary", traits->typed_rotary),
        graft_int_arg("bidirectional", bidirectional),
    };
    const struct graft_args more = graft_args_of(items, sizeof items / sizeof items[0]);
    return sink->base(sink->data, &more, error);
}

static int causal_lm_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    double softcap = 0.0; /* null in config.json: none */
    int32_t is_causal = 1;
    int32_t both_ways = 0;
    (void)args;
    int status = graft_config_real(config, "final_logit_softcapping", 0.0, &softcap, error);
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "is_causal", &is_causal, error);
    }
    if (status == GRAFT_OK) {
        status = read_both_ways(self->data, config, &both_ways, error);
    }
    const struct graft_arg items[] = {graft_real_arg("softcap", softcap),
                                      graft_int_arg("bidirectional", both_ways || !is_causal)};
    const struct graft_args more = graft_args_of(items, 2);
    return status == GRAFT_OK ? sink->base(sink->data, &more, error) : status;
}

static int norm_describe(const struct graft_class *self, const struct graft_config *config,
                         const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg item = graft_real_arg("offset", 1.0);
    const struct graft_args more = graft_args_of(&item, 1);
    (void)self;
    (void)config;
    (void)args;
    return sink->base(sink->data, &more, error);
}

/* --- Attention of Gemma 3: Llama's, which norms queries and keys where it finds norms for them --- */

static int attention_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const char *const norms[] = {"q_norm", "k_norm"};
    int status = sink->base(sink->data, NULL, error); /* which checks the sizes */
    (void)self;
    (void)config;
    for (size_t i = 0; i < sizeof norms / sizeof norms[0] && status == GRAFT_OK; i++) {
        status = graft_describe_norm(sink, norms[i], "Gemma3RMSNorm", graft_args_int(args, "head_dim", 0),
                                     graft_args_real(args, "eps", 1e-6), error);
    }
    return status;
}

/* --- What the host is told --- */

static const struct traits gemma2 = {.period = 2, .softcap_field = "attn_logit_softcapping"};

static const struct graft_parts_layer gemma2_layer = {
    .attention = "self_attn",
    .attention_class = "Gemma2Attention",
    .attention_norm = "input_layernorm",
    .attention_output_norm = "post_attention_layernorm",
    .mlp = "mlp",
    .mlp_class = "Gemma2MLP",
    .mlp_norm = "pre_feedforward_layernorm",
    .mlp_output_norm = "post_feedforward_layernorm",
    .norm_class = "Gemma2RMSNorm",
};

static const struct graft_class gemma2_classes[] = {
    {GRAFT_DERIVED_CLASS("Gemma2ForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM),
     .describe = causal_lm_describe, .data = &gemma2},
    {GRAFT_DERIVED_CLASS("Gemma2ForSequenceClassification", "LlamaForSequenceClassification",
                         GRAFT_INTERFACE_SEQUENCE_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("Gemma2ForTokenClassification", "LlamaForTokenClassification",
                         GRAFT_INTERFACE_TOKEN_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("Gemma2Model", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL), .describe = model_describe,
     .data = &gemma2},
    {GRAFT_DERIVED_CLASS("Gemma2TextScaledWordEmbedding", "Embedding", GRAFT_INTERFACE_EMBEDDING),
     GRAFT_PARTS_INSTANCE(graft_parts_scaled_embedding)},
    {GRAFT_PARTS_CLASS("Gemma2DecoderLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_parts_layer),
     .base = "LlamaDecoderLayer", .data = &gemma2_layer},
    {GRAFT_DERIVED_CLASS("Gemma2Attention", "LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION)},
    {GRAFT_DERIVED_CLASS("Gemma2MLP", "LlamaMLP", GRAFT_INTERFACE_MLP)},
    {GRAFT_DERIVED_CLASS("Gemma2RMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM), .describe = norm_describe},
    {GRAFT_DERIVED_CLASS("Gemma2RotaryEmbedding", "LlamaRotaryEmbedding", GRAFT_INTERFACE_ROTARY)},
};

static const struct graft_architecture gemma2_architectures[] = {{"Gemma2ForCausalLM", NULL},
                                                                 {"Gemma2Model", NULL},
                                                                 {"Gemma2ForSequenceClassification", NULL},
                                                                 {"Gemma2ForTokenClassification", NULL}};

/* Names and defaults that are not Llama's. `hidden_act` is written but never read. */
static const struct graft_config_field gemma2_fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 256000},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 2304},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 9216},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 26},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 8},
    {.name = "num_key_value_heads", .kind = GRAFT_FIELD_INT, .integer = 4},
    {.name = "head_dim", .kind = GRAFT_FIELD_INT, .integer = 256},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 8192},
    {.name = "tie_word_embeddings", .kind = GRAFT_FIELD_BOOL, .integer = 1},
    {.name = "hidden_act",
     .alias = "hidden_activation",
     .kind = GRAFT_FIELD_STRING,
     .string = "gelu_pytorch_tanh",
     .flags = GRAFT_FIELD_RENAMED},
    {.name = "query_pre_attn_scalar", .kind = GRAFT_FIELD_INT, .integer = 256},
    {.name = "sliding_window", .kind = GRAFT_FIELD_INT, .integer = 4096},
    {.name = "attn_logit_softcapping", .kind = GRAFT_FIELD_REAL, .real = 50.0},
    {.name = "final_logit_softcapping", .kind = GRAFT_FIELD_REAL, .real = 30.0},
};

static const struct traits gemma3 = {
    .period = 6, .period_field = "sliding_window_pattern", .typed_rotary = 1, .runs_bidirectional = 1};

static const struct graft_parts_layer gemma3_layer = {
    .attention = "self_attn",
    .attention_class = "Gemma3Attention",
    .attention_norm = "input_layernorm",
    .attention_output_norm = "post_attention_layernorm",
    .mlp = "mlp",
    .mlp_class = "Gemma3MLP",
    .mlp_norm = "pre_feedforward_layernorm",
    .mlp_output_norm = "post_feedforward_layernorm",
    .norm_class = "Gemma3RMSNorm",
};

static const struct graft_parts_typed_rotary gemma3_rotary = {
    .types = {[GRAFT_LAYER_FULL_ATTENTION] = {"full_attention", "rope_theta", 1000000.0, 1, 0},
              [GRAFT_LAYER_SLIDING_ATTENTION] = {"sliding_attention", "rope_local_base_freq", 10000.0, 0, 0}},
};

static const struct graft_class gemma3_classes[] = {
    {GRAFT_DERIVED_CLASS("Gemma3ForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM),
     .describe = causal_lm_describe, .data = &gemma3},
    {GRAFT_DERIVED_CLASS("Gemma3TextForSequenceClassification", "LlamaForSequenceClassification",
                         GRAFT_INTERFACE_SEQUENCE_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("Gemma3TextModel", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL), .describe = model_describe,
     .data = &gemma3},
    {GRAFT_DERIVED_CLASS("Gemma3TextScaledWordEmbedding", "Embedding", GRAFT_INTERFACE_EMBEDDING),
     GRAFT_PARTS_INSTANCE(graft_parts_scaled_embedding)},
    {GRAFT_PARTS_CLASS("Gemma3DecoderLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_parts_layer),
     .base = "LlamaDecoderLayer", .data = &gemma3_layer},
    {GRAFT_DERIVED_CLASS("Gemma3Attention", "LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION),
     .describe = attention_describe},
    {GRAFT_DERIVED_CLASS("Gemma3MLP", "LlamaMLP", GRAFT_INTERFACE_MLP)},
    {GRAFT_DERIVED_CLASS("Gemma3RMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM), .describe = norm_describe},
    {GRAFT_PARTS_TYPED_ROTARY_CLASS("Gemma3RotaryEmbedding"), .base = "LlamaRotaryEmbedding", .data = &gemma3_rotary},
};

static const struct graft_architecture gemma3_architectures[] = {
    {"Gemma3ForCausalLM", NULL}, {"Gemma3TextModel", NULL}, {"Gemma3TextForSequenceClassification", NULL}};

/* attn_logit_softcapping is written but never read. */
static const struct graft_config_field gemma3_fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 262208},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 2304},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 9216},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 26},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 8},
    {.name = "num_key_value_heads", .kind = GRAFT_FIELD_INT, .integer = 4},
    {.name = "head_dim", .kind = GRAFT_FIELD_INT, .integer = 256},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 131072},
    {.name = "tie_word_embeddings", .kind = GRAFT_FIELD_BOOL, .integer = 1},
    {.name = "hidden_act",
     .alias = "hidden_activation",
     .kind = GRAFT_FIELD_STRING,
     .string = "gelu_pytorch_tanh",
     .flags = GRAFT_FIELD_RENAMED},
    {.name = "query_pre_attn_scalar", .kind = GRAFT_FIELD_INT, .integer = 256},
    {.name = "sliding_window", .kind = GRAFT_FIELD_INT, .integer = 4096},
};

static const struct graft_field_rule gemma2_rules[] = {
    /* hidden_activation counts, in both families; without a language model's head there are no such logits. */
    {.name = "hidden_act"},
    {.name = "final_logit_softcapping"},
};

static const struct graft_field_rule gemma3_rules[] = {
    {.name = "hidden_act"},
    {.name = "final_logit_softcapping"},
    /* layer_types says it; without that, sliding_window_pattern does. */
    {.name = "_sliding_window_pattern"},
    /* Its scores have no cap, whatever this says. */
    {.name = "attn_logit_softcapping"},
};

static const struct graft_family families[] = {
    {
        .struct_size = sizeof families[0],
        .model_type = "gemma2",
        .base_model_prefix = "model",
        GRAFT_FAMILY_ARCHITECTURES(gemma2_architectures),
        GRAFT_FAMILY_CLASSES(gemma2_classes),
        GRAFT_FAMILY_FIELDS(gemma2_fields),
        GRAFT_FIELD_RULES(gemma2_rules),
    },
    {
        .struct_size = sizeof families[0],
        .model_type = "gemma3_text",
        .base_model_prefix = "model",
        GRAFT_FAMILY_ARCHITECTURES(gemma3_architectures),
        GRAFT_FAMILY_CLASSES(gemma3_classes),
        GRAFT_FAMILY_FIELDS(gemma3_fields),
        GRAFT_FIELD_RULES(gemma3_rules),
    },
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "gemma2",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model types gemma2 and gemma3_text",
    .families = families,
    .n_families = sizeof families / sizeof families[0],
    .family_stride = sizeof families[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
