/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/vision/roles.h"

#include <stdio.h>

#include "arch/role.h"
#include "arch/vision/choices.h"

enum { MAX_NAME = 256 };

static const struct role {
    int32_t choice;
    const char *suffix; /* class name after the family's prefix */
    struct graft_class
        cls; /* without name and data; all zeros for the language model, whose class comes from the decoder */
} roles[] = {
    {V_CLASS_MODEL, "Model", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_BASE_MODEL, graft_multimodal)}},
    {V_CLASS_TOWER, "VisionModel", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_VISION_TOWER, graft_vision_tower)}},
    {V_CLASS_PATCH_EMBED, "VisionPatchEmbed", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_PATCH_EMBED, graft_patch_embed)}},
    {V_CLASS_ROTARY,
     "VisionRotaryEmbedding",
     {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_VISION_ROTARY, graft_vision_rotary)}},
    {V_CLASS_BLOCK, "VisionBlock", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_VISION_BLOCK, graft_vision_block)}},
    {V_CLASS_ATTENTION,
     "VisionAttention",
     {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_VISION_ATTENTION, graft_vision_attention)}},
    {V_CLASS_MLP, "VisionMLP", {GRAFT_ROLE_PART(GRAFT_INTERFACE_MLP, graft_vision_mlp, graft_parts_mlp)}},
    {V_CLASS_MERGER, "VisionPatchMerger", {GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_PATCH_MERGER, graft_patch_merger)}},
    {V_CLASS_TEXT_MODEL, "TextModel", {.struct_size = 0}},
};

enum { N_ROLES = sizeof roles / sizeof roles[0], N_CLASSES = N_ROLES - 1 };

int graft_vision_name_classes(struct graft_description *description, const char *prefix, struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < N_ROLES && status == GRAFT_OK; i++) {
        char name[MAX_NAME];
        const struct graft_value value = {.kind = GRAFT_VALUE_TEXT, .text = name};
        (void)snprintf(name, sizeof name, "%.200s%s", prefix, roles[i].suffix);
        status = graft_description_set(description, roles[i].choice, &value, prefix, error);
    }
    return status;
}

int32_t graft_vision_n_classes(void) {
    return N_CLASSES;
}

void graft_vision_class(const struct graft_description *description, int32_t i, struct graft_class *cls) {
    *cls = roles[i].cls;
    cls->name = graft_description_name(description, roles[i].choice);
    cls->data = description;
}

const struct graft_description *graft_vision_description(const struct graft_class *cls) {
    for (int32_t i = 0; i < N_CLASSES && cls->base == NULL; i++) {
        if (cls->describe == roles[i].cls.describe) {
            return cls->data;
        }
    }
    return NULL;
}
