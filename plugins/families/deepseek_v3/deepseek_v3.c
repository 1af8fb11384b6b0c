/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeepSeek-V3 and DeepSeek-V2 (DeepSeek-AI 2024): Llama with latent attention and, from some layer on, experts chosen
 * by groups beside shared ones.
 */
#include <stdlib.h>
#include <string.h>

#include "deepseek.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/experts.h"
#include "graft/family.h"
#include "graft/plugin.h"
#include "graft/rotary.h"
#include "graft/sequence_classifier.h"
#include "graft/token_classifier.h"

/* Llama's, where the layer is one of the first; else with experts in the place of the MLP. */
static int layer_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct deepseek_traits *traits = self->data;
    int64_t first_sparse = 0;
    int64_t frequency = 1;
    int status = graft_config_int(config, "first_k_dense_replace", 0, INT32_MAX, &first_sparse, error);
    if (status == GRAFT_OK) { /* no model has another */
        status = graft_config_int(config, "moe_layer_freq", 1, 1, &frequency, error);
    }
    int sparse = graft_args_int(args, "layer_idx", 0) >= first_sparse;
    const char *const children[][3] = {
        {"self_attn", traits->attention, GRAFT_INTERFACE_SELF_ATTENTION},
        {"mlp", sparse ? traits->moe : traits->mlp, GRAFT_INTERFACE_MLP},
        {"input_layernorm", traits->rms_norm, GRAFT_INTERFACE_NORM},
        {"post_attention_layernorm", traits->rms_norm, GRAFT_INTERFACE_NORM},
    };
    for (size_t i = 0; i < sizeof children / sizeof children[0] && status == GRAFT_OK; i++) {
        status = graft_describe_given(sink, children[i][0], children[i][1], children[i][2], args, error);
    }
    return status;
}

/* Behind the model's layers checkpoints have num_nextn_predict_layers that predict further tokens. */
static int32_t is_predictor(const struct graft_config *config, const char *tensor) {
    int64_t layers = config->integer(config->data, "num_hidden_layers");
    int64_t predictors = config->integer(config->data, "num_nextn_predict_layers");
    const char *name = strncmp(tensor, "model.", 6) == 0 ? tensor + 6 : tensor;
    char *end = NULL;
    if (strncmp(name, "layers.", 7) != 0) {
        return 0;
    }
    int64_t layer = strtoll(name + 7, &end, 10);
    return *end == '.' && layer >= layers && layer - layers < predictors;
}

static const struct deepseek_traits v3 = {
    .attention = "DeepseekV3Attention",
    .mlp = "DeepseekV3MLP",
    .moe = "DeepseekV3MoE",
    .router = "DeepseekV3TopkRouter",
    .experts = "DeepseekV3Experts",
    .rms_norm = "DeepseekV3RMSNorm",
    .sigmoid = 1,
};

static const struct deepseek_traits v2 = {
    .attention = "DeepseekV2Attention",
    .mlp = "DeepseekV2MLP",
    .moe = "DeepseekV2Moe",
    .router = "DeepseekV2TopkRouter",
    .experts = "DeepseekV2Experts",
    .rms_norm = "DeepseekV2RMSNorm",
};

/* A class whose functions are those of one file. */
#define OWN_CLASS(class_name, interface, file, destroyer, traits)                                       \
    .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = (interface),       \
    .describe = deepseek_##file##_describe, .create = deepseek_##file##_create, .destroy = (destroyer), \
    .forward = &deepseek_##file##_vtable, .data = &(traits)

static const struct graft_class v3_classes[] = {
    {GRAFT_DERIVED_CLASS("DeepseekV3ForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM)},
    {GRAFT_DERIVED_CLASS("DeepseekV3ForSequenceClassification", "LlamaForSequenceClassification",
                         GRAFT_INTERFACE_SEQUENCE_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("DeepseekV3ForTokenClassification", "LlamaForTokenClassification",
                         GRAFT_INTERFACE_TOKEN_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("DeepseekV3Model", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL)},
    {GRAFT_DERIVED_CLASS("DeepseekV3DecoderLayer", "LlamaDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER),
     .describe = layer_describe, .data = &v3},
    {OWN_CLASS("DeepseekV3Attention", GRAFT_INTERFACE_SELF_ATTENTION, attention, deepseek_attention_destroy, v3)},
    {GRAFT_DERIVED_CLASS("DeepseekV3MLP", "LlamaMLP", GRAFT_INTERFACE_MLP)},
    {OWN_CLASS("DeepseekV3MoE", GRAFT_INTERFACE_MLP, moe, free, v3)},
    {OWN_CLASS("DeepseekV3TopkRouter", GRAFT_INTERFACE_ROUTER, router, free, v3)},
    {GRAFT_DERIVED_CLASS("DeepseekV3Experts", "Qwen3MoeExperts", GRAFT_INTERFACE_EXPERTS)},
    {GRAFT_DERIVED_CLASS("DeepseekV3RMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM)},
    {GRAFT_DERIVED_CLASS("DeepseekV3RotaryEmbedding", "LlamaRotaryEmbedding", GRAFT_INTERFACE_ROTARY)},
};

static const struct graft_class v2_classes[] = {
    {GRAFT_DERIVED_CLASS("DeepseekV2ForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM)},
    {GRAFT_DERIVED_CLASS("DeepseekV2ForSequenceClassification", "LlamaForSequenceClassification",
                         GRAFT_INTERFACE_SEQUENCE_CLASSIFIER)},
    {GRAFT_DERIVED_CLASS("DeepseekV2Model", "LlamaModel", GRAFT_INTERFACE_BASE_MODEL)},
    {GRAFT_DERIVED_CLASS("DeepseekV2DecoderLayer", "LlamaDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER),
     .describe = layer_describe, .data = &v2},
    {OWN_CLASS("DeepseekV2Attention", GRAFT_INTERFACE_SELF_ATTENTION, attention, deepseek_attention_destroy, v2)},
    {GRAFT_DERIVED_CLASS("DeepseekV2MLP", "LlamaMLP", GRAFT_INTERFACE_MLP)},
    {OWN_CLASS("DeepseekV2Moe", GRAFT_INTERFACE_MLP, moe, free, v2)},
    {OWN_CLASS("DeepseekV2TopkRouter", GRAFT_INTERFACE_ROUTER, router, free, v2)},
    {GRAFT_DERIVED_CLASS("DeepseekV2Experts", "Qwen3MoeExperts", GRAFT_INTERFACE_EXPERTS)},
    {GRAFT_DERIVED_CLASS("DeepseekV2RMSNorm", "LlamaRMSNorm", GRAFT_INTERFACE_NORM)},
    {GRAFT_DERIVED_CLASS("DeepseekV2RotaryEmbedding", "LlamaRotaryEmbedding", GRAFT_INTERFACE_ROTARY)},
};

static const struct graft_architecture v2_architectures[] = {
    {"DeepseekV2ForCausalLM", NULL}, {"DeepseekV2Model", NULL}, {"DeepseekV2ForSequenceClassification", NULL}};

static const struct graft_architecture v3_architectures[] = {{"DeepseekV3ForCausalLM", NULL},
                                                             {"DeepseekV3Model", NULL},
                                                             {"DeepseekV3ForSequenceClassification", NULL},
                                                             {"DeepseekV3ForTokenClassification", NULL}};

/* Llama's layers are told that each head has keys and values of its own. */
#define GROUPS                                                                                       \
    {.name = "num_key_value_heads", .alias = "num_attention_heads", .flags = GRAFT_FIELD_RENAMED}, { \
        .name = DEEPSEEK_GROUPS, .alias = "num_key_value_heads"                                      \
    }

/* Angles are as wide as the part of a head that is rotated. */
static const struct graft_config_field v3_fields[] = {
    {.name = "head_dim",
     .alias = "qk_rope_head_dim",
     .kind = GRAFT_FIELD_INT,
     .integer = 64,
     .flags = GRAFT_FIELD_RENAMED},
    {.name = "num_experts",
     .alias = "n_routed_experts",
     .kind = GRAFT_FIELD_INT,
     .integer = 256,
     .flags = GRAFT_FIELD_RENAMED},
    GROUPS,
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 129280},
    {.name = "hidden_size", .kind = GRAFT_FIELD_INT, .integer = 7168},
    {.name = "intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 18432},
    {.name = "moe_intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 2048},
    {.name = "num_hidden_layers", .kind = GRAFT_FIELD_INT, .integer = 61},
    {.name = "num_nextn_predict_layers", .kind = GRAFT_FIELD_INT, .integer = 1},
    {.name = "num_attention_heads", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "num_experts_per_tok", .kind = GRAFT_FIELD_INT, .integer = 8},
    {.name = "n_shared_experts", .kind = GRAFT_FIELD_INT, .integer = 1},
    {.name = "n_group", .kind = GRAFT_FIELD_INT, .integer = 8},
    {.name = "topk_group", .kind = GRAFT_FIELD_INT, .integer = 4},
    {.name = "norm_topk_prob", .kind = GRAFT_FIELD_BOOL, .integer = 1},
    {.name = "routed_scaling_factor", .kind = GRAFT_FIELD_REAL, .real = 2.5},
    {.name = "first_k_dense_replace", .kind = GRAFT_FIELD_INT, .integer = 3},
    {.name = "q_lora_rank", .kind = GRAFT_FIELD_INT, .integer = 1536},
    {.name = "kv_lora_rank", .kind = GRAFT_FIELD_INT, .integer = 512},
    {.name = "qk_nope_head_dim", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "v_head_dim", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "max_position_embeddings", .kind = GRAFT_FIELD_INT, .integer = 4096},
};

static const struct graft_config_field v2_fields[] = {
    {.name = "head_dim",
     .alias = "qk_rope_head_dim",
     .kind = GRAFT_FIELD_INT,
     .integer = 64,
     .flags = GRAFT_FIELD_RENAMED},
    {.name = "num_experts",
     .alias = "n_routed_experts",
     .kind = GRAFT_FIELD_INT,
     .integer = 64,
     .flags = GRAFT_FIELD_RENAMED},
    GROUPS,
    {.name = "vocab_size", .kind = GRAFT_FIELD_INT, .integer = 102400},
    {.name = "moe_intermediate_size", .kind = GRAFT_FIELD_INT, .integer = 1407},
    {.name = "n_shared_experts", .kind = GRAFT_FIELD_INT, .integer = 2},
    {.name = "routed_scaling_factor", .kind = GRAFT_FIELD_REAL, .real = 1.0},
    {.name = "q_lora_rank", .kind = GRAFT_FIELD_INT, .integer = 1536},
    {.name = "kv_lora_rank", .kind = GRAFT_FIELD_INT, .integer = 512},
    {.name = "qk_nope_head_dim", .kind = GRAFT_FIELD_INT, .integer = 128},
    {.name = "v_head_dim", .kind = GRAFT_FIELD_INT, .integer = 128},
};

/* Widths that follow from others: the reference computes them, whatever these say. Layers that predict further tokens
 * are left out, here as there. */
#define DERIVED_FIELDS                               \
    {.name = "head_dim"}, {.name = "qk_head_dim"}, { \
        .name = "num_nextn_predict_layers"           \
    }

static const struct graft_field_rule v2_rules[] = {
    DERIVED_FIELDS,
    /* Its routers do not norm what they choose, and have groups with one of the topk_methods alone. */
    {.name = "norm_topk_prob"},
    {.name = "n_group"},
    {.name = "topk_group"},
};

static const struct graft_field_rule v3_rules[] = {DERIVED_FIELDS};

static const struct graft_family families[] = {
    {
        .struct_size = sizeof families[0],
        .model_type = "deepseek_v2",
        .base_model_prefix = "model",
        .architectures = v2_architectures,
        .n_architectures = sizeof v2_architectures / sizeof v2_architectures[0],
        .architecture_stride = sizeof v2_architectures[0],
        .classes = v2_classes,
        .n_classes = sizeof v2_classes / sizeof v2_classes[0],
        .class_stride = sizeof v2_classes[0],
        .fields = v2_fields,
        .n_fields = sizeof v2_fields / sizeof v2_fields[0],
        .field_stride = sizeof v2_fields[0],
        GRAFT_FIELD_RULES(v2_rules),
    },
    {
        .struct_size = sizeof families[0],
        .model_type = "deepseek_v3",
        .base_model_prefix = "model",
        .architectures = v3_architectures,
        .n_architectures = sizeof v3_architectures / sizeof v3_architectures[0],
        .architecture_stride = sizeof v3_architectures[0],
        .classes = v3_classes,
        .n_classes = sizeof v3_classes / sizeof v3_classes[0],
        .class_stride = sizeof v3_classes[0],
        .fields = v3_fields,
        .n_fields = sizeof v3_fields / sizeof v3_fields[0],
        .field_stride = sizeof v3_fields[0],
        .ignores = is_predictor,
        GRAFT_FIELD_RULES(v3_rules),
    },
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "deepseek_v3",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "The model types deepseek_v2 and deepseek_v3",
    .families = families,
    .n_families = sizeof families / sizeof families[0],
    .family_stride = sizeof families[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
