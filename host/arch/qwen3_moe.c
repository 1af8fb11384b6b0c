/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/decoder_config.h"
#include "arch/families.h"
#include "arch/moe/expert_conversions.h"
#include "arch/role.h"

static const struct graft_decoder_traits traits = {
    .model = "Qwen3MoeModel",
    .decoder_layer = "Qwen3MoeDecoderLayer",
    .attention = "Qwen3MoeAttention",
    .mlp = "Qwen3MoeMLP",
    .rms_norm = "Qwen3MoeRMSNorm",
    .rotary_embedding = "Qwen3MoeRotaryEmbedding",
    .sparse_moe_block = "Qwen3MoeSparseMoeBlock",
    .router = "Qwen3MoeTopKRouter",
    .experts = "Qwen3MoeExperts",
    .qkv_bias = "attention_bias",
    .o_proj_bias = 1,
    .query_key_norm = 1,
    .windows = GRAFT_WINDOWS_ALL,
    .window_switch = "use_sliding_window",
    .num_local_experts = 1,
    .answers_model = "transformer",
    .defaults =
        {
            .vocab_size = 151936,
            .hidden_size = 2048,
            .intermediate_size = 6144,
            .num_hidden_layers = 24,
            .num_attention_heads = 32,
            .num_key_value_heads = 4,
            .max_position_embeddings = 32768,
            .rms_norm_eps = 1e-6,
            .rope_theta = 10000.0,
            .sliding_window = 4096,
            .num_experts = 128,
            .num_experts_per_tok = 8,
            .moe_intermediate_size = 768,
            .decoder_sparse_step = 1,
        },
};

static const struct graft_class classes[] = {
    {GRAFT_FAMILY_PART("Qwen3MoeForCausalLM", GRAFT_INTERFACE_CAUSAL_LM, graft_causal_lm, graft_parts_causal_lm)},
    GRAFT_DECODER_HEADS("Qwen3Moe"),
    {GRAFT_FAMILY_PART("Qwen3MoeModel", GRAFT_INTERFACE_BASE_MODEL, graft_decoder, graft_parts_model)},
    {GRAFT_FAMILY_PART("Qwen3MoeDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_decoder_layer, graft_parts_layer)},
    {GRAFT_FAMILY_CLASS("Qwen3MoeAttention", GRAFT_INTERFACE_SELF_ATTENTION, graft_attention)},
    {GRAFT_FAMILY_PART("Qwen3MoeMLP", GRAFT_INTERFACE_MLP, graft_mlp, graft_parts_mlp)},
    {GRAFT_FAMILY_CLASS("Qwen3MoeSparseMoeBlock", GRAFT_INTERFACE_MLP, graft_sparse_moe_block)},
    {GRAFT_FAMILY_CLASS("Qwen3MoeTopKRouter", GRAFT_INTERFACE_ROUTER, graft_router)},
    {
        GRAFT_FAMILY_CLASS("Qwen3MoeExperts", GRAFT_INTERFACE_EXPERTS, graft_experts),
        .flags = GRAFT_CLASS_CALLS_EXPERTS,
        .conversions = graft_expert_conversions,
        .n_conversions = GRAFT_EXPERT_CONVERSIONS,
        .conversion_stride = sizeof graft_expert_conversions[0],
    },
    {GRAFT_FAMILY_CLASS("Qwen3MoeRMSNorm", GRAFT_INTERFACE_NORM, graft_rms_norm)},
    {GRAFT_ROTARY_CLASS("Qwen3MoeRotaryEmbedding", traits)},
};

static const struct graft_architecture architectures[] = {GRAFT_DECODER_ROOTS("Qwen3Moe")};

static const struct graft_field_rule field_rules[] = {
    {.name = "use_mrope", .values = "[false]"},
    GRAFT_UNUSED_WINDOW_FIELDS,
};

const struct graft_family graft_family_qwen3_moe = {
    GRAFT_FAMILY("qwen3_moe", "model"),
    .ignored_tensors = graft_computed_tensors,
    GRAFT_FIELD_RULES(field_rules),
};
