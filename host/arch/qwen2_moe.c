/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/decoder_config.h"
#include "arch/families.h"
#include "arch/moe/expert_conversions.h"
#include "arch/role.h"

static const struct graft_decoder_traits traits = {
    .model = "Qwen2MoeModel",
    .decoder_layer = "Qwen2MoeDecoderLayer",
    .attention = "Qwen2MoeAttention",
    .mlp = "Qwen2MoeMLP",
    .rms_norm = "Qwen2MoeRMSNorm",
    .rotary_embedding = "Qwen2MoeRotaryEmbedding",
    .sparse_moe_block = "Qwen2MoeSparseMoeBlock",
    .router = "Qwen2MoeTopKRouter",
    .experts = "Qwen2MoeExperts",
    .qkv_bias = "qkv_bias",
    .o_proj_bias = 0,
    .windows = GRAFT_WINDOWS_ALTERNATING,
    .window_switch = "use_sliding_window",
    .shared_expert = 1,
    .defaults =
        {
            .vocab_size = 151936,
            .hidden_size = 2048,
            .intermediate_size = 5632,
            .num_hidden_layers = 24,
            .num_attention_heads = 16,
            .num_key_value_heads = 16,
            .max_position_embeddings = 32768,
            .rms_norm_eps = 1e-6,
            .qkv_bias = 1,
            .rope_theta = 10000.0,
            .sliding_window = 4096,
            .max_window_layers = 28,
            .num_experts = 60,
            .num_experts_per_tok = 4,
            .moe_intermediate_size = 1408,
            .shared_expert_intermediate_size = 5632,
            .decoder_sparse_step = 1,
        },
};

static const struct graft_class classes[] = {
    {GRAFT_FAMILY_PART("Qwen2MoeForCausalLM", GRAFT_INTERFACE_CAUSAL_LM, graft_causal_lm, graft_parts_causal_lm)},
    GRAFT_DECODER_HEADS("Qwen2Moe"),
    {GRAFT_FAMILY_PART("Qwen2MoeModel", GRAFT_INTERFACE_BASE_MODEL, graft_decoder, graft_parts_model)},
    {GRAFT_FAMILY_PART("Qwen2MoeDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_decoder_layer, graft_parts_layer)},
    {GRAFT_FAMILY_CLASS("Qwen2MoeAttention", GRAFT_INTERFACE_SELF_ATTENTION, graft_attention)},
    {GRAFT_FAMILY_PART("Qwen2MoeMLP", GRAFT_INTERFACE_MLP, graft_mlp, graft_parts_mlp)},
    {GRAFT_FAMILY_CLASS("Qwen2MoeSparseMoeBlock", GRAFT_INTERFACE_MLP, graft_sparse_moe_block)},
    {GRAFT_FAMILY_CLASS("Qwen2MoeTopKRouter", GRAFT_INTERFACE_ROUTER, graft_router)},
    {
        GRAFT_FAMILY_CLASS("Qwen2MoeExperts", GRAFT_INTERFACE_EXPERTS, graft_experts),
        .flags = GRAFT_CLASS_CALLS_EXPERTS,
        .conversions = graft_expert_conversions,
        .n_conversions = GRAFT_EXPERT_CONVERSIONS,
        .conversion_stride = sizeof graft_expert_conversions[0],
    },
    {GRAFT_FAMILY_CLASS("Qwen2MoeRMSNorm", GRAFT_INTERFACE_NORM, graft_rms_norm)},
    {GRAFT_ROTARY_CLASS("Qwen2MoeRotaryEmbedding", traits)},
};

static const struct graft_architecture architectures[] = {GRAFT_DECODER_ROOTS("Qwen2Moe")};

static const struct graft_field_rule field_rules[] = {
    {.name = "use_mrope", .values = "[false]"},
    GRAFT_UNUSED_WINDOW_FIELDS,
};

const struct graft_family graft_family_qwen2_moe = {
    GRAFT_FAMILY("qwen2_moe", "model"),
    .ignored_tensors = graft_computed_tensors,
    GRAFT_FIELD_RULES(field_rules),
};
