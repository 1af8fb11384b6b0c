/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/decoder_config.h"
#include "arch/families.h"
#include "arch/role.h"

static const struct graft_decoder_traits traits = {
    .model = "Qwen2Model",
    .decoder_layer = "Qwen2DecoderLayer",
    .attention = "Qwen2Attention",
    .mlp = "Qwen2MLP",
    .rms_norm = "Qwen2RMSNorm",
    .rotary_embedding = "Qwen2RotaryEmbedding",
    .windows = GRAFT_WINDOWS_UPPER,
    .window_switch = "use_sliding_window",
    .answers_model = "transformer",
    .defaults =
        {
            .vocab_size = 151936,
            .hidden_size = 4096,
            .intermediate_size = 22016,
            .num_hidden_layers = 32,
            .num_attention_heads = 32,
            .num_key_value_heads = 32,
            .max_position_embeddings = 32768,
            .rms_norm_eps = 1e-6,
            .qkv_bias = 1,
            .rope_theta = 10000.0,
            .sliding_window = 4096,
            .max_window_layers = 28,
        },
};

static const struct graft_class classes[] = {
    {GRAFT_FAMILY_PART("Qwen2ForCausalLM", GRAFT_INTERFACE_CAUSAL_LM, graft_causal_lm, graft_parts_causal_lm)},
    GRAFT_DECODER_HEADS("Qwen2"),
    {GRAFT_FAMILY_PART("Qwen2Model", GRAFT_INTERFACE_BASE_MODEL, graft_decoder, graft_parts_model)},
    {GRAFT_FAMILY_PART("Qwen2DecoderLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_decoder_layer, graft_parts_layer)},
    {GRAFT_FAMILY_CLASS("Qwen2Attention", GRAFT_INTERFACE_SELF_ATTENTION, graft_attention)},
    /* qwen2_vl's text model has it, too. */
    {GRAFT_FAMILY_PART("Qwen2MLP", GRAFT_INTERFACE_MLP, graft_mlp, graft_parts_mlp)},
    {GRAFT_FAMILY_CLASS("Qwen2RMSNorm", GRAFT_INTERFACE_NORM, graft_rms_norm)},
    {GRAFT_ROTARY_CLASS("Qwen2RotaryEmbedding", traits)},
};

static const struct graft_architecture architectures[] = {GRAFT_DECODER_ROOTS("Qwen2")};

static const struct graft_field_rule field_rules[] = {
    {.name = "use_mrope", .values = "[false]"},
    GRAFT_UNUSED_WINDOW_FIELDS,
};

const struct graft_family graft_family_qwen2 = {
    GRAFT_FAMILY("qwen2", "model"),
    .ignored_tensors = graft_computed_tensors,
    GRAFT_FIELD_RULES(field_rules),
};
