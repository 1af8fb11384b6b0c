/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/families.h"
#include "arch/role.h"
#include "arch/vision/vision_config.h"

static const struct graft_vision_traits vision_traits = {
    .tower = "Qwen2VisionTransformerPretrainedModel",
    .patch_embed = "PatchEmbed",
    .rotary_embedding = "Qwen2VLVisionRotaryEmbedding",
    .block = "Qwen2VLVisionBlock",
    .attention = "VisionAttention",
    .mlp = "VisionMlp",
    .merger = "PatchMerger",
    .text_model = "Qwen2VLTextModel",
    .text_size = 8192,
    .image_token_id = 151655,
    .video_token_id = 151656,
};

#define VISION_CLASS(class_name, interface, role) \
    .name = (class_name), .data = &vision_traits, GRAFT_ROLE(interface, role)

static const struct graft_class classes[] = {
    {VISION_CLASS("Qwen2VLModel", GRAFT_INTERFACE_BASE_MODEL, graft_multimodal)},
    {VISION_CLASS("Qwen2VisionTransformerPretrainedModel", GRAFT_INTERFACE_VISION_TOWER, graft_vision_tower)},
    {VISION_CLASS("PatchEmbed", GRAFT_INTERFACE_PATCH_EMBED, graft_patch_embed)},
    {VISION_CLASS("Qwen2VLVisionRotaryEmbedding", GRAFT_INTERFACE_VISION_ROTARY, graft_vision_rotary)},
    {VISION_CLASS("Qwen2VLVisionBlock", GRAFT_INTERFACE_VISION_BLOCK, graft_vision_block)},
    {VISION_CLASS("VisionAttention", GRAFT_INTERFACE_VISION_ATTENTION, graft_vision_attention)},
    {VISION_CLASS("VisionMlp", GRAFT_INTERFACE_MLP, graft_vision_mlp)},
    {VISION_CLASS("PatchMerger", GRAFT_INTERFACE_PATCH_MERGER, graft_patch_merger)},
};

/* The vision tower of qwen2_vl.family.json. */
const struct graft_family graft_family_qwen2_vl = {
    .struct_size = sizeof(struct graft_family),
    .model_type = "qwen2_vl",
    GRAFT_FAMILY_CLASSES(classes),
};
