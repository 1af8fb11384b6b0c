/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/families.h"

#include "arch/basic/activation.h"
#include "arch/moe/experts.h"
#include "arch/role.h"

static const struct graft_class linear = {
    .name = "Linear",
    .flags = GRAFT_CLASS_BASIC,
    GRAFT_ROLE(GRAFT_INTERFACE_LINEAR, graft_linear),
};

static const struct graft_class embedding = {
    .name = "Embedding",
    .flags = GRAFT_CLASS_BASIC,
    GRAFT_ROLE(GRAFT_INTERFACE_EMBEDDING, graft_embedding),
};

static const struct graft_class conv3d = {
    .name = "Conv3d",
    .flags = GRAFT_CLASS_BASIC,
    GRAFT_ROLE(GRAFT_INTERFACE_CONV3D, graft_conv3d),
};

static const struct graft_class layer_norm = {
    .name = "LayerNorm",
    .flags = GRAFT_CLASS_BASIC,
    GRAFT_ROLE(GRAFT_INTERFACE_NORM, graft_layer_norm),
    .conversions = graft_layer_norm_conversions,
    .n_conversions = GRAFT_LAYER_NORM_CONVERSIONS,
    .conversion_stride = sizeof graft_layer_norm_conversions[0],
};

static const struct graft_class identity = {
    .name = "Identity",
    .flags = GRAFT_CLASS_BASIC,
    GRAFT_ROLE(GRAFT_INTERFACE_NORM, graft_identity),
};

static const struct graft_class *const basic_classes[] = {
    &identity,
    &linear,
    &embedding,
    &layer_norm,
    &conv3d,
    &graft_activation_classes[0],
    &graft_activation_classes[1],
    &graft_activation_classes[2],
    &graft_activation_classes[3],
    &graft_activation_classes[4],
    &graft_activation_classes[5],
    &graft_activation_classes[6],
    &graft_activation_classes[7],
    &graft_activation_classes[8],
    &graft_activation_classes[9],
    &graft_activation_classes[10],
    NULL,
};

static const struct graft_family basic = {.classes = basic_classes};

static const struct graft_family *const families[] = {
    &basic,
    &graft_family_bert,
    &graft_family_llama,
    &graft_family_mistral,
    &graft_family_mixtral,
    &graft_family_qwen2_moe,
    &graft_family_qwen2_vl,
    &graft_family_qwen3,
    &graft_family_qwen3_moe,
    NULL,
};

const struct graft_family *const *graft_families(void) {
    return families;
}

const struct graft_experts_implementation *const *graft_experts_implementations(void) {
    static const struct graft_experts_implementation *const implementations[] = {
        &graft_experts_grouped_mm, &graft_experts_eager, &graft_experts_batched_mm, NULL};
    return implementations;
}
