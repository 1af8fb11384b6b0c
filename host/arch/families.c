/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/families.h"

#include <string.h>

#include "arch/basic/activation.h"
#include "arch/moe/experts.h"
#include "arch/role.h"

static const struct graft_class basic_classes[] = {
    {
        .name = "Identity",
        .flags = GRAFT_CLASS_BASIC | GRAFT_CLASS_SAME_ANYWHERE,
        GRAFT_ROLE(GRAFT_INTERFACE_NORM, graft_identity),
    },
    {
        .name = "Linear",
        .flags = GRAFT_CLASS_BASIC | GRAFT_CLASS_SAME_ANYWHERE,
        GRAFT_ROLE(GRAFT_INTERFACE_LINEAR, graft_linear),
    },
    {
        .name = "Embedding",
        .flags = GRAFT_CLASS_BASIC | GRAFT_CLASS_SAME_ANYWHERE,
        GRAFT_ROLE(GRAFT_INTERFACE_EMBEDDING, graft_embedding),
    },
    {
        .name = "LayerNorm",
        .flags = GRAFT_CLASS_BASIC | GRAFT_CLASS_SAME_ANYWHERE,
        GRAFT_ROLE(GRAFT_INTERFACE_NORM, graft_layer_norm),
        .conversions = graft_layer_norm_conversions,
        .n_conversions = GRAFT_LAYER_NORM_CONVERSIONS,
        .conversion_stride = sizeof graft_layer_norm_conversions[0],
    },
    {
        .name = "Conv1d",
        .flags = GRAFT_CLASS_BASIC | GRAFT_CLASS_SAME_ANYWHERE,
        GRAFT_ROLE(GRAFT_INTERFACE_CAUSAL_CONV1D, graft_causal_conv1d),
    },
    {
        .name = "Conv3d",
        .flags = GRAFT_CLASS_BASIC | GRAFT_CLASS_SAME_ANYWHERE,
        GRAFT_ROLE(GRAFT_INTERFACE_CONV3D, graft_conv3d),
    },
    {
        .name = "Conv2d",
        .flags = GRAFT_CLASS_BASIC,
        .struct_size = sizeof(struct graft_class),
        .interface_id = GRAFT_INTERFACE_CONV3D,
        .describe = graft_conv2d_describe,
        .create = graft_conv3d_create,
        .destroy = graft_instance_destroy,
        .forward = &graft_conv3d_vtable,
    },
};

const struct graft_family_text *graft_built_in_texts(void) {
    return graft_family_texts;
}

int graft_class_is_basic(const char *name) {
    for (size_t i = 0; i < sizeof basic_classes / sizeof basic_classes[0]; i++) {
        if (strcmp(basic_classes[i].name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

const struct graft_class *graft_basic_class(size_t i) {
    const size_t n = sizeof basic_classes / sizeof basic_classes[0];
    const struct graft_class *cls = i < n ? &basic_classes[i] : &graft_activation_classes[i - n];
    return cls->name != NULL ? cls : NULL;
}

const struct graft_experts_implementation *const *graft_experts_implementations(void) {
    static const struct graft_experts_implementation *const implementations[] = {
        &graft_experts_grouped_mm, &graft_experts_eager, &graft_experts_batched_mm, NULL};
    return implementations;
}
