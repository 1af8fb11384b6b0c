/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/decoder_config.h"
#include "arch/families.h"
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
            .rope = {.rope_theta = 10000.0},
            .sliding_window = 4096,
            .max_window_layers = 28,
            .num_experts = 60,
            .num_experts_per_tok = 4,
            .moe_intermediate_size = 1408,
            .shared_expert_intermediate_size = 5632,
            .decoder_sparse_step = 1,
        },
};

static const struct graft_class causal_lm = {
    .name = "Qwen2MoeForCausalLM",
    .data = &traits,
    GRAFT_ROLE(GRAFT_INTERFACE_CAUSAL_LM, graft_causal_lm),
};

static const struct graft_class model = {
    .name = "Qwen2MoeModel",
    .data = &traits,
    GRAFT_ROLE(GRAFT_INTERFACE_BASE_MODEL, graft_decoder),
};

static const struct graft_class decoder_layer = {
    .name = "Qwen2MoeDecoderLayer",
    .data = &traits,
    GRAFT_ROLE(GRAFT_INTERFACE_DECODER_LAYER, graft_decoder_layer),
};

static const struct graft_class attention = {
    .name = "Qwen2MoeAttention",
    .data = &traits,
    GRAFT_ROLE(GRAFT_INTERFACE_SELF_ATTENTION, graft_attention),
};

static const struct graft_class mlp = {
    .name = "Qwen2MoeMLP",
    .data = &traits,
    GRAFT_ROLE(GRAFT_INTERFACE_MLP, graft_mlp),
};

static const struct graft_class sparse_moe_block = {
    .name = "Qwen2MoeSparseMoeBlock",
    .data = &traits,
    GRAFT_ROLE(GRAFT_INTERFACE_MLP, graft_sparse_moe_block),
};

static const struct graft_class router = {
    .name = "Qwen2MoeTopKRouter",
    .data = &traits,
    GRAFT_ROLE(GRAFT_INTERFACE_ROUTER, graft_router),
};

/* Published checkpoints hold the experts one by one. */
static const char *const gate_up_sources[] = {"*.gate_proj.weight", "*.up_proj.weight"};
static const char *const gate_up_targets[] = {"gate_up_proj"};
static const char *const down_sources[] = {"*.down_proj.weight"};
static const char *const down_targets[] = {"down_proj"};

static const struct graft_operation stack_and_join[] = {
    {sizeof(struct graft_operation), GRAFT_OP_MERGE_MODULELIST, 0},
    {sizeof(struct graft_operation), GRAFT_OP_CONCATENATE, 1},
};

static const struct graft_conversion expert_conversions[] = {
    {
        .struct_size = sizeof(struct graft_conversion),
        .n_sources = 2,
        .sources = gate_up_sources,
        .n_targets = 1,
        .targets = gate_up_targets,
        .n_operations = 2,
        .operations = stack_and_join,
        .operation_stride = sizeof stack_and_join[0],
    },
    {
        .struct_size = sizeof(struct graft_conversion),
        .n_sources = 1,
        .sources = down_sources,
        .n_targets = 1,
        .targets = down_targets,
        .n_operations = 1,
        .operations = stack_and_join,
        .operation_stride = sizeof stack_and_join[0],
    },
};

static const struct graft_class experts = {
    .name = "Qwen2MoeExperts",
    .data = &traits,
    .conversions = expert_conversions,
    .n_conversions = 2,
    .conversion_stride = sizeof expert_conversions[0],
    GRAFT_ROLE(GRAFT_INTERFACE_EXPERTS, graft_experts),
};

static const struct graft_class rms_norm = {
    .name = "Qwen2MoeRMSNorm",
    .data = &traits,
    GRAFT_ROLE(GRAFT_INTERFACE_NORM, graft_rms_norm),
};

static const struct graft_class rotary_embedding = {
    .name = "Qwen2MoeRotaryEmbedding",
    .data = &traits,
    GRAFT_ROLE(GRAFT_INTERFACE_ROTARY, graft_rotary),
};

static const struct graft_class *const classes[] = {
    &causal_lm, &model,   &decoder_layer, &attention,        &mlp, &sparse_moe_block,
    &router,    &experts, &rms_norm,      &rotary_embedding, NULL,
};

const struct graft_family graft_family_qwen2_moe = {
    .model_type = "qwen2_moe",
    .architecture = "Qwen2MoeForCausalLM",
    .base_model_prefix = "model",
    .classes = classes,
};
