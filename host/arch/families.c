/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/families.h"

#include "arch/basic/activation.h"
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

static const struct graft_class *const basic_classes[] = {
    &linear,
    &embedding,
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
    NULL,
};

static const struct graft_family basic = {.classes = basic_classes};

static const struct graft_family *const families[] = {
    &basic,
    &graft_family_llama,
    &graft_family_mistral,
    &graft_family_mixtral,
    &graft_family_qwen2_moe,
    &graft_family_qwen3,
    &graft_family_qwen3_moe,
    NULL,
};

const struct graft_family *const *graft_families(void) {
    return families;
}
