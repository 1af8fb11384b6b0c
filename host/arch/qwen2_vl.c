/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/decoder/decoder_config.h"
#include "arch/families.h"
#include "arch/role.h"
#include "arch/vision/vision_config.h"

static const struct graft_decoder_traits text_traits = {
    .model = "Qwen2VLModel",
    .decoder_layer = "Qwen2VLDecoderLayer",
    .attention = "Qwen2VLAttention",
    .mlp = "Qwen2MLP",
    .rms_norm = "Qwen2VLRMSNorm",
    .rotary_embedding = "Qwen2VLRotaryEmbedding",
    .windows = GRAFT_WINDOWS_UPPER,
    .window_switch = "use_sliding_window",
    .section = "text_config",
    .tied_weight = "model.language_model.embed_tokens.weight",
    .defaults =
        {
            .vocab_size = 152064,
            .hidden_size = 8192,
            .intermediate_size = 29568,
            .num_hidden_layers = 80,
            .num_attention_heads = 64,
            .num_key_value_heads = 8,
            .max_position_embeddings = 32768,
            .rms_norm_eps = 1e-5,
            .qkv_bias = 1,
            .rope_theta = 1000000.0,
            .mrope_section = {16, 24, 24},
            .sliding_window = 4096,
            .max_window_layers = 80,
        },
};

static const struct graft_vision_traits vision_traits = {
    .tower = "Qwen2VisionTransformerPretrainedModel",
    .patch_embed = "PatchEmbed",
    .rotary_embedding = "Qwen2VLVisionRotaryEmbedding",
    .block = "Qwen2VLVisionBlock",
    .attention = "VisionAttention",
    .mlp = "VisionMlp",
    .merger = "PatchMerger",
    .text_model = "Qwen2VLTextModel",
    .text = &text_traits,
    .image_token_id = 151655,
    .video_token_id = 151656,
};

/* Published checkpoints have the names from before language model and vision tower became siblings. */
static const char *const visual_sources[] = {"visual"};
static const char *const visual_targets[] = {"model.visual"};
static const char *const model_sources[] = {"model"};
static const char *const language_model_targets[] = {"model.language_model"};
static const struct graft_conversion conversions[] = {
    GRAFT_RENAMING(visual_sources, visual_targets),
    GRAFT_RENAMING(model_sources, language_model_targets),
};

#define TEXT_CLASS(class_name, interface, role) .name = (class_name), .data = &text_traits, GRAFT_ROLE(interface, role)

#define TEXT_PART(class_name, interface, role, part) \
    .name = (class_name), .data = &text_traits, GRAFT_ROLE_PART(interface, role, part)

#define VISION_CLASS(class_name, interface, role) \
    .name = (class_name), .data = &vision_traits, GRAFT_ROLE(interface, role)

static const struct graft_class classes[] = {
    {
        TEXT_PART("Qwen2VLForConditionalGeneration", GRAFT_INTERFACE_CAUSAL_LM, graft_causal_lm, graft_parts_causal_lm),
        .conversions = conversions,
        .n_conversions = sizeof conversions / sizeof conversions[0],
        .conversion_stride = sizeof conversions[0],
    },
    {VISION_CLASS("Qwen2VLModel", GRAFT_INTERFACE_BASE_MODEL, graft_multimodal)},
    {TEXT_PART("Qwen2VLTextModel", GRAFT_INTERFACE_BASE_MODEL, graft_decoder, graft_parts_model)},
    {TEXT_PART("Qwen2VLDecoderLayer", GRAFT_INTERFACE_DECODER_LAYER, graft_decoder_layer, graft_parts_layer)},
    {TEXT_CLASS("Qwen2VLAttention", GRAFT_INTERFACE_SELF_ATTENTION, graft_attention)},
    {TEXT_CLASS("Qwen2VLRMSNorm", GRAFT_INTERFACE_NORM, graft_rms_norm)},
    {VISION_CLASS("Qwen2VisionTransformerPretrainedModel", GRAFT_INTERFACE_VISION_TOWER, graft_vision_tower)},
    {VISION_CLASS("PatchEmbed", GRAFT_INTERFACE_PATCH_EMBED, graft_patch_embed)},
    {GRAFT_ROTARY_CLASS("Qwen2VLRotaryEmbedding", text_traits)},
    {VISION_CLASS("Qwen2VLVisionRotaryEmbedding", GRAFT_INTERFACE_VISION_ROTARY, graft_vision_rotary)},
    {VISION_CLASS("Qwen2VLVisionBlock", GRAFT_INTERFACE_VISION_BLOCK, graft_vision_block)},
    {VISION_CLASS("VisionAttention", GRAFT_INTERFACE_VISION_ATTENTION, graft_vision_attention)},
    {VISION_CLASS("VisionMlp", GRAFT_INTERFACE_MLP, graft_vision_mlp)},
    {VISION_CLASS("PatchMerger", GRAFT_INTERFACE_PATCH_MERGER, graft_patch_merger)},
};

static const struct graft_architecture architectures[] = {{"Qwen2VLForConditionalGeneration", NULL}};

static const struct graft_field_rule field_rules[] = {
    /* The marks around an image are tokens like others: prompts have them. */
    {.name = "vision_end_token_id"},
    {.name = "vision_start_token_id"},
    {.name = "vision_token_id"},
    /* Other names of what the vision tower has, which the reference does not look at either. */
    {.name = "vision_config.in_chans"},
    {.name = "vision_config.spatial_patch_size"},
    GRAFT_UNUSED_WINDOW_FIELDS,
};

const struct graft_family graft_family_qwen2_vl = {
    GRAFT_FAMILY("qwen2_vl", "model"),
    .ignored_tensors = graft_computed_tensors,
    GRAFT_FIELD_RULES(field_rules),
};
