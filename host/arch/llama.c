/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/decoder_config.h"
#include "arch/families.h"
#include "arch/role.h"

static const struct graft_decoder_traits traits = {
    .model = "LlamaModel",
    .decoder_layer = "LlamaDecoderLayer",
    .attention = "LlamaAttention",
    .mlp = "LlamaMLP",
    .rms_norm = "LlamaRMSNorm",
    .rotary_embedding = "LlamaRotaryEmbedding",
    .qkv_bias = "attention_bias",
    .o_proj_bias = 1,
    .mlp_bias = "mlp_bias",
    .windows = GRAFT_WINDOWS_NEVER,
    .answers_model = "transformer",
    .defaults =
        {
            .vocab_size = 32000,
            .hidden_size = 4096,
            .intermediate_size = 11008,
            .num_hidden_layers = 32,
            .num_attention_heads = 32,
            .max_position_embeddings = 2048,
            .rms_norm_eps = 1e-6,
            .rope_theta = 10000.0,
        },
};

static const struct graft_class classes[] = {
    {GRAFT_FAMILY_PART("LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM, graft_causal_lm, graft_parts_causal_lm)},
    GRAFT_DECODER_HEADS("Llama"),
    {GRAFT_FAMILY_PART("LlamaModel", GRAFT_INTERFACE_BASE_MODEL, graft_decoder, graft_parts_model)},
    {GRAFT_FAMILY_PART("LlamaDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_decoder_layer, graft_parts_layer)},
    {GRAFT_FAMILY_CLASS("LlamaAttention", GRAFT_INTERFACE_SELF_ATTENTION, graft_attention)},
    {GRAFT_FAMILY_PART("LlamaMLP", GRAFT_INTERFACE_MLP, graft_mlp, graft_parts_mlp)},
    {GRAFT_FAMILY_CLASS("LlamaRMSNorm", GRAFT_INTERFACE_NORM, graft_rms_norm)},
    {GRAFT_ROTARY_CLASS("LlamaRotaryEmbedding", traits)},
};

static const struct graft_architecture architectures[] = {GRAFT_DECODER_ROOTS("Llama")};

static const struct graft_field_rule field_rules[] = {
    /* Conversions of checkpoints left these behind. */
    {.name = "is_llama_config"},
    {.name = "max_sequence_length"},
    {.name = "rope_interleaved", .values = "[false]"},
};

const struct graft_family graft_family_llama = {
    GRAFT_FAMILY("llama", "model"),
    .ignored_tensors = graft_computed_tensors,
    GRAFT_FIELD_RULES(field_rules),
};
