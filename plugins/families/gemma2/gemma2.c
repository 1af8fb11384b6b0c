/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gemma 2 (Riviere et al. 2024): Llama with norms before and behind attention and MLP, which multiply by 1 + weight;
 * with bounds on scores and logits, embeddings that are scaled, and a window in every second layer.
 */
#include <math.h>

#include "graft/describe.h"
#include "graft/family.h"
#include "graft/layer_types.h"
#include "graft/parts.h"
#include "graft/plugin.h"

/* --- Model, head and norm: Llama's, given what Llama does not know of config.json --- */

/* windows [GRAFT_PARTS_MAX_LAYERS], of which `layers` are used. */
static int read_windows(const struct graft_config *config, int64_t *windows, int64_t *layers,
                        struct graft_error *error) {
    int64_t sliding_window = 0;
    int status = graft_config_need_int(config, "num_hidden_layers", 1, GRAFT_PARTS_MAX_LAYERS, layers, error);
    if (status == GRAFT_OK) {
        status = graft_config_need_int(config, "sliding_window", 1, INT32_MAX, &sliding_window, error);
    }
    for (int64_t i = 0; i < *layers && status == GRAFT_OK; i++) {
        windows[i] = i % 2 == 0 ? sliding_window : 0;
    }
    return status == GRAFT_OK ? graft_layer_windows(config, *layers, sliding_window, windows, error) : status;
}

static int model_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t windows[GRAFT_PARTS_MAX_LAYERS];
    int64_t layers = 0;
    double scalar = 0.0;
    double softcap = 0.0; /* null in config.json: none */
    int32_t both_ways = 0;
    (void)self;
    (void)args;
    int status = read_windows(config, windows, &layers, error);
    if (status == GRAFT_OK) {
        status = graft_config_not_null(config, "query_pre_attn_scalar", "a number", error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_real(config, "query_pre_attn_scalar", 0.0, &scalar, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_real(config, "attn_logit_softcapping", 0.0, &softcap, error);
    }
    if (status == GRAFT_OK) {
        status = graft_config_bool(config, "use_bidirectional_attention", &both_ways, error);
    }
    if (status == GRAFT_OK && both_ways) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "use_bidirectional_attention: true is not supported");
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_arg items[] = {
        graft_ints_arg("windows", windows, (int32_t)layers),
        graft_real_arg("scaling", 1.0 / sqrt(scalar)),
        graft_real_arg("softcap", softcap),
    };
    const struct graft_args more = graft_args_of(items, 3);
    return sink->base(sink->data, &more, error);
}

static int causal_lm_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    double softcap = 0.0; /* null in config.json: none */
    (void)self;
    (void)args;
    int status = graft_config_real(config, "final_logit_softcapping", 0.0, &softcap, error);
    const struct graft_arg item = graft_real_arg("softcap", softcap);
    const struct graft_args more = graft_args_of(&item, 1);
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

/* --- What the host is told --- */

static const struct graft_parts_layer layer = {
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

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("Gemma2ForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM),
     .describe = causal_lm_describe},
    {GRAFT_DERIVED_CLASS("Gemma2Model", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL), .describe = model_describe},
    {GRAFT_DERIVED_CLASS("Gemma2TextScaledWordEmbedding", "Embedding", GRAFT_INTERFACE_EMBEDDING),
     GRAFT_PARTS_INSTANCE(graft_parts_scaled_embedding)},
    {GRAFT_PARTS_CLASS("Gemma2DecoderLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_parts_layer),
     .base = "LlamaDecoderLayer", .data = &layer},
    {GRAFT_DERIVED_CLASS("Gemma2Attention", "LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION)},
    {GRAFT_DERIVED_CLASS("Gemma2MLP", "LlamaMLP", GRAFT_INTERFACE_MLP)},
    {GRAFT_DERIVED_CLASS("Gemma2RMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM), .describe = norm_describe},
    {GRAFT_DERIVED_CLASS("Gemma2RotaryEmbedding", "LlamaRotaryEmbedding", GRAFT_INTERFACE_ROTARY)},
};

static const struct graft_architecture architectures[] = {{"Gemma2ForCausalLM", NULL}, {"Gemma2Model", NULL}};

/* Names and defaults that are not Llama's. `hidden_act` is written but never read. */
static const struct graft_config_field fields[] = {
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

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "gemma2",
    .base_model_prefix = "model",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "gemma2",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type gemma2",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
