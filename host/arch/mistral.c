/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/decoder_config.h"
#include "arch/families.h"
#include "arch/role.h"

static const struct graft_decoder_traits traits = {
    .model = "MistralModel",
    .decoder_layer = "MistralDecoderLayer",
    .attention = "MistralAttention",
    .mlp = "MistralMLP",
    .rms_norm = "MistralRMSNorm",
    .rotary_embedding = "MistralRotaryEmbedding",
    .windows = GRAFT_WINDOWS_LISTED,
    .defaults =
        {
            .vocab_size = 32000,
            .hidden_size = 4096,
            .intermediate_size = 14336,
            .num_hidden_layers = 32,
            .num_attention_heads = 32,
            .num_key_value_heads = 8,
            .max_position_embeddings = 131072,
            .rms_norm_eps = 1e-6,
            .rope_theta = 10000.0,
            .use_sliding_window = 1,
            .sliding_window = 4096,
        },
};

static const struct graft_class classes[] = {
    {GRAFT_FAMILY_PART("MistralForCausalLM", GRAFT_INTERFACE_CAUSAL_LM, graft_causal_lm, graft_parts_causal_lm)},
    GRAFT_DECODER_HEADS("Mistral"),
    {GRAFT_FAMILY_PART("MistralModel", GRAFT_INTERFACE_BASE_MODEL, graft_decoder, graft_parts_model)},
    {GRAFT_FAMILY_PART("MistralDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_decoder_layer, graft_parts_layer)},
    {GRAFT_FAMILY_CLASS("MistralAttention", GRAFT_INTERFACE_SELF_ATTENTION, graft_attention)},
    {GRAFT_FAMILY_PART("MistralMLP", GRAFT_INTERFACE_MLP, graft_mlp, graft_parts_mlp)},
    {GRAFT_FAMILY_CLASS("MistralRMSNorm", GRAFT_INTERFACE_NORM, graft_rms_norm)},
    {GRAFT_ROTARY_CLASS("MistralRotaryEmbedding", traits)},
};

static const struct graft_architecture architectures[] = {GRAFT_DECODER_ROOTS("Mistral")};

const struct graft_family graft_family_mistral = {
    GRAFT_FAMILY("mistral", "model"),
    .ignored_tensors = graft_computed_tensors,
};
