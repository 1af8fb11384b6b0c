/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qwen3-Next: Qwen2-MoE with norms that multiply by 1 + weight, attention with a gate and a part of each head rotated,
 * and in three of four layers the gated delta rule (Yang et al. 2024) in the place of attention.
 */
#include "qwen3_next.h"

#include "graft/encoder_parts.h"
#include "graft/experts.h"
#include "graft/family.h"
#include "graft/layer_types.h"
#include "graft/parts.h"
#include "graft/plugin.h"
#include "graft/rope.h"
#include "graft/router.h"
#include "graft/sequence_classifier.h"
#include "graft/token_classifier.h"

static const struct graft_parts_rotary rotary = {.rope_theta = 10000.0, .partial_rotary_factor = 0.25};

/* No layer has a window, and the base is not to look for one in `layer_types`. */
static int model_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    static const int64_t windows[GRAFT_PARTS_MAX_LAYERS];
    int64_t layers = 0;
    int64_t rotary_width = 0;
    (void)self;
    (void)args;
    int status = graft_config_need_int(config, "num_hidden_layers", 1, GRAFT_PARTS_MAX_LAYERS, &layers, error);
    if (status == GRAFT_OK) {
        status = graft_parts_rotary_width(&rotary, config, sink->host, &rotary_width, error);
    }
    const struct graft_arg items[] = {graft_ints_arg("windows", windows, (int32_t)layers),
                                      graft_int_arg("rotary_width", rotary_width)};
    const struct graft_args more = graft_args_of(items, 2);
    return status == GRAFT_OK ? sink->base(sink->data, &more, error) : status;
}

/* By `layer_types`; without it, each `full_attention_interval`-th layer has attention. */
static int layer_is_linear(const struct graft_config *config, int64_t layer, int32_t *linear,
                           struct graft_error *error) {
    int64_t layers = 0;
    int64_t interval = 4;
    int status = graft_config_need_int(config, "num_hidden_layers", 1, GRAFT_PARTS_MAX_LAYERS, &layers, error);
    if (status == GRAFT_OK) {
        status = graft_config_int(config, "full_attention_interval", 1, INT32_MAX, &interval, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    *linear = (layer + 1) % interval != 0;
    return graft_layer_type(config, layers, layer, "linear_attention", "full_attention", linear, error);
}

static int layer_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_arg items[] = {graft_string_arg("mixer", "linear_attn"),
                                      graft_string_arg("mixer_class", "Qwen3NextGatedDeltaNet")};
    const struct graft_args more = graft_args_of(items, 2);
    int32_t linear = 0;
    (void)self;
    int status = layer_is_linear(config, graft_args_int(args, "layer_idx", 0), &linear, error);
    return status == GRAFT_OK ? sink->base(sink->data, linear ? &more : NULL, error) : status;
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

/* Its base is not called as in Qwen2MoeForQuestionAnswering. */
static const struct graft_parts_encoder_root answerer = {
    .model = "transformer", .model_class = "Qwen3NextModel", .decoder = "qa_outputs", .is_decoder = 1};

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("Qwen3NextForCausalLM", "Qwen2MoeForCausalLM", GRAFT_INTERFACE_CAUSAL_LM)},
    {GRAFT_DERIVED_CLASS("Qwen3NextForSequenceClassification", "Qwen2MoeForSequenceClassification",
                         GRAFT_INTERFACE_SEQUENCE_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("Qwen3NextForTokenClassification", "Qwen2MoeForTokenClassification",
                         GRAFT_INTERFACE_TOKEN_CLASSIFIER)},
    {GRAFT_PARTS_TOKEN_CLASSIFIER("Qwen3NextForQuestionAnswering", graft_parts_decoder_answers), .data = &answerer},
    {GRAFT_DERIVED_CLASS("Qwen3NextModel", "Qwen2MoeModel", GRAFT_INTERFACE_BASE_MODEL), .describe = model_describe},
    {GRAFT_DERIVED_CLASS("Qwen3NextDecoderLayer", "Qwen2MoeDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER),
     .describe = layer_describe},
    {GRAFT_DERIVED_CLASS("Qwen3NextAttention", "Qwen2MoeAttention", GRAFT_INTERFACE_SELF_ATTENTION),
     .describe = qwen3_next_attention_describe, GRAFT_PARTS_INSTANCE(qwen3_next_attention)},
    {GRAFT_DERIVED_CLASS("Qwen3NextMLP", "Qwen2MoeMLP", GRAFT_INTERFACE_MLP)},
    {GRAFT_DERIVED_CLASS("Qwen3NextSparseMoeBlock", "Qwen2MoeSparseMoeBlock", GRAFT_INTERFACE_MLP)},
    {GRAFT_DERIVED_CLASS("Qwen3NextTopKRouter", "Qwen2MoeTopKRouter", GRAFT_INTERFACE_ROUTER)},
    {GRAFT_DERIVED_CLASS("Qwen3NextExperts", "Qwen2MoeExperts", GRAFT_INTERFACE_EXPERTS)},
    {GRAFT_DERIVED_CLASS("Qwen3NextRMSNorm", "Qwen2MoeRMSNorm", GRAFT_INTERFACE_NORM), .describe = norm_describe},
    {GRAFT_PARTS_CLASS("Qwen3NextGatedDeltaNet", GRAFT_INTERFACE_MIXER, qwen3_next_gated_delta_net)},
    {GRAFT_PARTS_CLASS("Qwen3NextRMSNormGated", QWEN3_NEXT_INTERFACE_GATED_NORM, qwen3_next_gated_norm)},
    {GRAFT_PARTS_ROTARY_CLASS("Qwen3NextRotaryEmbedding"), .base = "Qwen2MoeRotaryEmbedding", .data = &rotary},
};

static const struct graft_architecture architectures[] = {{"Qwen3NextForCausalLM", NULL},
                                                          {"Qwen3NextModel", NULL},
                                                          {"Qwen3NextForSequenceClassification", NULL},
                                                          {"Qwen3NextForTokenClassification", NULL},
                                                          {"Qwen3NextForQuestionAnswering", NULL}};

static const struct graft_config_field fields[] = {
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 151936},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 2048},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 5632},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 48},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 16},
    {.name = "num_key_value_heads", .kind = GRAFT_FIELD_INT, .integer = 2},
    {.name = "head_dim", .kind = GRAFT_FIELD_INT, .integer = 256},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 32768},
    {.name = "hidden_act", .kind = GRAFT_FIELD_STRING, .string = "silu"},
    {.name = "qkv_bias", .alias = "attention_bias", .kind = GRAFT_FIELD_BOOL, .integer = 0},
    {.name = "linear_conv_kernel_dim", .kind = GRAFT_FIELD_INT, .integer = 4},
    {.name = "linear_key_head_dim", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "linear_value_head_dim", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "linear_num_key_heads", .kind = GRAFT_FIELD_INT, .integer = 16},
    {.name = "linear_num_value_heads", .kind = GRAFT_FIELD_INT, .integer = 32},
    {.name = "num_experts", .kind = GRAFT_FIELD_INT, .integer = 512},
    {.name = "num_experts_per_tok", .kind = GRAFT_FIELD_INT, .integer = 10},
    {.name = "moe_intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 512},
    {.name = "shared_expert_intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 512},
    {.name = "norm_topk_prob", .kind = GRAFT_FIELD_BOOL, .integer = 1},
};

/* Layers that predict further tokens, which nothing here uses. */
static const char *const ignored_tensors[] = {"^mtp\\.", NULL};

static const struct graft_family family = {
    .struct_size = sizeof family,
    .model_type = "qwen3_next",
    .base_model_prefix = "model",
    GRAFT_FAMILY_ARCHITECTURES(architectures),
    GRAFT_FAMILY_CLASSES(classes),
    GRAFT_FAMILY_FIELDS(fields),
    .ignored_tensors = ignored_tensors,
};

static const char *const required[] = {GRAFT_ROPE_ID, NULL};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "qwen3_next",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model type qwen3_next",
    .requires_extensions = required,
    .families = &family,
    .n_families = 1,
    .family_stride = sizeof family,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
