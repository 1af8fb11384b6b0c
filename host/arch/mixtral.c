/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/decoder_config.h"
#include "arch/families.h"
#include "arch/moe/expert_conversions.h"
#include "arch/role.h"

static const struct graft_decoder_traits traits = {
    .model = "MixtralModel",
    .decoder_layer = "MixtralDecoderLayer",
    .attention = "MixtralAttention",
    .rms_norm = "MixtralRMSNorm",
    .rotary_embedding = "MixtralRotaryEmbedding",
    .sparse_moe_block = "MixtralSparseMoeBlock",
    .router = "MixtralTopKRouter",
    .experts = "MixtralExperts",
    .windows = GRAFT_WINDOWS_ALL,
    .num_local_experts = 1,
    .defaults =
        {
            .vocab_size = 32000,
            .hidden_size = 4096,
            .intermediate_size = 14336,
            .num_hidden_layers = 32,
            .num_attention_heads = 32,
            .num_key_value_heads = 8,
            .max_position_embeddings = 131072,
            .rms_norm_eps = 1e-5,
            .rope_theta = 1000000.0,
            .num_experts = 8,
            .num_experts_per_tok = 2,
            .norm_topk_prob = 1,
        },
};

/* Published checkpoints call the block by another name, and a layer's experts w1 (gate), w3 (up) and w2 (down). */
static const char *const block_sources[] = {"block_sparse_moe"};
static const char *const block_targets[] = {"mlp"};
static const struct graft_conversion layer_conversions[] = {GRAFT_RENAMING(block_sources, block_targets)};

static const char *const gate_up_sources[] = {"*.w1.weight", "*.w3.weight"};
static const char *const down_sources[] = {"*.w2.weight"};
static const struct graft_conversion expert_conversions[] = GRAFT_EXPERT_CONVERSION_LIST(gate_up_sources, down_sources);

static const struct graft_class classes[] = {
    {GRAFT_FAMILY_PART("MixtralForCausalLM", GRAFT_INTERFACE_CAUSAL_LM, graft_causal_lm, graft_parts_causal_lm)},
    GRAFT_DECODER_HEADS("Mixtral"),
    {GRAFT_FAMILY_PART("MixtralModel", GRAFT_INTERFACE_BASE_MODEL, graft_decoder, graft_parts_model)},
    {
        GRAFT_FAMILY_PART("MixtralDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_decoder_layer, graft_parts_layer),
        .conversions = layer_conversions,
        .n_conversions = 1,
        .conversion_stride = sizeof layer_conversions[0],
    },
    {GRAFT_FAMILY_CLASS("MixtralAttention", GRAFT_INTERFACE_SELF_ATTENTION, graft_attention)},
    {GRAFT_FAMILY_CLASS("MixtralSparseMoeBlock", GRAFT_INTERFACE_MLP, graft_sparse_moe_block)},
    {GRAFT_FAMILY_CLASS("MixtralTopKRouter", GRAFT_INTERFACE_ROUTER, graft_router)},
    {
        GRAFT_FAMILY_CLASS("MixtralExperts", GRAFT_INTERFACE_EXPERTS, graft_experts),
        .flags = GRAFT_CLASS_CALLS_EXPERTS,
        .conversions = expert_conversions,
        .n_conversions = GRAFT_EXPERT_CONVERSIONS,
        .conversion_stride = sizeof expert_conversions[0],
    },
    {GRAFT_FAMILY_CLASS("MixtralRMSNorm", GRAFT_INTERFACE_NORM, graft_rms_norm)},
    {GRAFT_ROTARY_CLASS("MixtralRotaryEmbedding", traits)},
};

static const struct graft_architecture architectures[] = {GRAFT_DECODER_ROOTS("Mixtral")};

const struct graft_family graft_family_mixtral = {
    GRAFT_FAMILY("mixtral", "model"),
    .ignored_tensors = graft_computed_tensors,
};
