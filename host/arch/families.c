/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/families.h"

#include <string.h>

#include "arch/basic/activation.h"
#include "arch/moe/experts.h"
#include "arch/role.h"

#define BASIC(class_name) .name = (class_name), .flags = GRAFT_CLASS_BASIC | GRAFT_CLASS_SAME_ANYWHERE

static const struct graft_class basic_classes[] = {
    {BASIC("Identity"), GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_NORM, graft_identity)},
    {BASIC("Linear"), GRAFT_ROLE(GRAFT_INTERFACE_LINEAR, graft_linear)},
    {BASIC("Embedding"), GRAFT_ROLE(GRAFT_INTERFACE_EMBEDDING, graft_embedding)},
    {BASIC("LayerNorm"), GRAFT_ROLE(GRAFT_INTERFACE_NORM, graft_layer_norm),
     .conversions = graft_layer_norm_conversions, .n_conversions = GRAFT_LAYER_NORM_CONVERSIONS,
     .conversion_stride = sizeof graft_layer_norm_conversions[0]},
    {BASIC("Conv1d"), GRAFT_ROLE_OUTLINED(GRAFT_INTERFACE_CAUSAL_CONV1D, graft_causal_conv1d)},
    {BASIC("Conv3d"), GRAFT_ROLE(GRAFT_INTERFACE_CONV3D, graft_conv3d)},
    {.name = "Conv2d", .flags = GRAFT_CLASS_BASIC, GRAFT_ROLE_PART(GRAFT_INTERFACE_CONV3D, graft_conv2d, graft_conv3d)},
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
