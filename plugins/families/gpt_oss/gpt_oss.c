/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpt-oss (OpenAI 2025): Llama with experts that have biases and a bounded gating, a window in every second layer, and
 * a sink for each head of attention.
 */
#include "gpt_oss.h"

#include <stdlib.h>

#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/experts.h"
#include "graft/family.h"
#include "graft/layer_types.h"
#include "graft/plugin.h"
#include "graft/rotary.h"
#include "graft/sequence_classifier.h"
#include "graft/token_classifier.h"

enum { MAX_LAYERS = 4096 };

static int model_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t windows[MAX_LAYERS];
    int64_t layers = 0, sliding_window = 0;
    (void)self;
    (void)args;
    int status = graft_config_need_int(config, "num_hidden_layers", 1, MAX_LAYERS, &layers, error);
    if (status == GRAFT_OK) { /* null: no layer has a window */
        status = graft_config_int(config, "sliding_window", 1, INT32_MAX, &sliding_window, error);
    }
    for (int64_t i = 0; i < layers; i++) {
        windows[i] = i % 2 == 0 ? sliding_window : 0;
    }
    if (status == GRAFT_OK) {
        status = graft_layer_windows(config, layers, sliding_window, windows, error);
    }
    const struct graft_arg item = graft_ints_arg("windows", windows, (int32_t)layers);
    const struct graft_args more = graft_args_of(&item, 1);
    return status == GRAFT_OK ? sink->base(sink->data, &more, error) : status;
}

static int attention_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t heads = graft_args_int(args, "num_attention_heads", 0);
    (void)self;
    (void)config;
    int status = sink->base(sink->data, NULL, error); /* which checks the sizes, and takes sinks */
    return status == GRAFT_OK ? graft_describe_vector(sink, "sinks", heads, error) : status;
}

/* --- What the host is told --- */

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("GptOssForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM)},
    {GRAFT_DERIVED_CLASS("GptOssForSequenceClassification", "LlamaForSequenceClassification",
                         GRAFT_INTERFACE_SEQUENCE_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("GptOssForTokenClassification", "LlamaForTokenClassification",
                         GRAFT_INTERFACE_TOKEN_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("GptOssModel", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL), .describe = model_describe},
    {GRAFT_DERIVED_CLASS("GptOssDecoderLayer", "LlamaDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER)},
    {GRAFT_DERIVED_CLASS("GptOssAttention", "LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION),
     .describe = attention_describe},
    {GRAFT_DERIVED_CLASS("GptOssMLP", "LlamaMLP", GRAFT_INTERFACE_MLP), .describe = gpt_oss_mlp_describe,
     .create = gpt_oss_mlp_create, .destroy = free, .forward = &gpt_oss_mlp_vtable},
    {.struct_size = sizeof(struct graft_class),
     .name = "GptOssTopKRouter",
     .interface_id = GRAFT_INTERFACE_ROUTER,
     .describe = gpt_oss_router_describe,
     .create = gpt_oss_router_create,
     .destroy = free,
     .forward = &gpt_oss_router_vtable},
    {GRAFT_DERIVED_CLASS("GptOssExperts", "MixtralExperts", GRAFT_INTERFACE_EXPERTS), .describe = graft_describe_base,
     .conversions = gpt_oss_experts_conversions, .n_conversions = GPT_OSS_EXPERTS_CONVERSIONS,
     .conversion_stride = sizeof gpt_oss_experts_conversions[0]},
    {GRAFT_DERIVED_CLASS("GptOssRMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM)},
    {GRAFT_DERIVED_CLASS("GptOssRotaryEmbedding", "LlamaRotaryEmbedding", GRAFT_INTERFACE_ROTARY)},
};

static const struct graft_architecture architectures[] = {{"GptOssForCausalLM", NULL},
                                                          {"GptOssModel", NULL},
                                                          {"GptOssForSequenceClassification", NULL},
                                                          {"GptOssForTokenClassification", NULL}};

/* Names and defaults that are not Llama's. Without any rope parameters they are those of the published models. */
static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 201088},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 2880},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 2880},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 36},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 64},
    {.name = "num_key_value_heads", .kind = GRAFT_FIELD_INT, .integer = 8},
    {.name = "head_dim", .kind = GRAFT_FIELD_INT, .integer = 64},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 131072},
    {.name = "rms_norm_eps", .kind = GRAFT_FIELD_REAL, .real = 1e-5},
    {.name = "attention_bias", .kind = GRAFT_FIELD_BOOL, .integer = 1},
    {.name = "sliding_window", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "num_local_experts", .alias = "num_experts", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "num_experts_per_tok", .kind = GRAFT_FIELD_INT, .integer = 4},
    {.name = "swiglu_alpha", .kind = GRAFT_FIELD_REAL, .real = 1.702},
    {.name = "swiglu_limit", .kind = GRAFT_FIELD_REAL, .real = 7.0},
    {.name = "rope_theta", .kind = GRAFT_FIELD_REAL, .real = 150000.0},
    {.name = "rope_parameters", .kind = GRAFT_FIELD_OBJECT},
    {.name = "rope_parameters.rope_type", .kind = GRAFT_FIELD_STRING, .string = "yarn"},
    {.name = "rope_parameters.factor", .kind = GRAFT_FIELD_REAL, .real = 32.0},
    {.name = "rope_parameters.truncate", .kind = GRAFT_FIELD_BOOL, .integer = 0},
    {.name = "rope_parameters.original_max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 4096},
};

static const struct graft_field_rule field_rules[] = {
    /* What other files of the model have under other names. */
    {.name = "experts_per_token"},
    {.name = "initial_context_length"},
    /* The class has SwiGLU, whatever this says. */
    {.name = "hidden_act"},
};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "gpt_oss",
    .base_model_prefix = "model",
    .architectures = architectures,
    .n_architectures = sizeof architectures / sizeof architectures[0],
    .architecture_stride = sizeof architectures[0],
    .classes = classes,
    .n_classes = sizeof classes / sizeof classes[0],
    .class_stride = sizeof classes[0],
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .field_stride = sizeof fields[0],
    GRAFT_FIELD_RULES(field_rules),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "gpt_oss",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type gpt_oss",
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
