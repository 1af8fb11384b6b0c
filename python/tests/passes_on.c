/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces classes of every interface that transformers can call, and passes each call on. */
#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/embedding.h"
#include "graft/experts.h"
#include "graft/linear.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/patch_embed.h"
#include "graft/plugin.h"
#include "graft/router.h"

#define PASSES_ON(interface, id)                                                                             \
    static int forward_##interface(void *self, const struct graft_call *call,                                \
                                   const struct graft_##interface##_args *args, struct graft_error *error) { \
        return graft_##interface##_forward(self, call, args, error);                                         \
    }                                                                                                        \
    static const struct graft_##interface vtable_##interface = {                                             \
        .struct_size = sizeof vtable_##interface, .features = UINT32_MAX, .forward = forward_##interface};   \
    static const struct graft_class class_##interface = {.struct_size = sizeof class_##interface,            \
                                                         .flags = GRAFT_CLASS_CALLS_SUPER,                   \
                                                         .name = "PassesOn_" #interface,                     \
                                                         .interface_id = id,                                 \
                                                         .forward = &vtable_##interface};

PASSES_ON(activation, GRAFT_INTERFACE_ACTIVATION)
PASSES_ON(embedding, GRAFT_INTERFACE_EMBEDDING)
PASSES_ON(experts, GRAFT_INTERFACE_EXPERTS)
PASSES_ON(linear, GRAFT_INTERFACE_LINEAR)
PASSES_ON(mlp, GRAFT_INTERFACE_MLP)
PASSES_ON(norm, GRAFT_INTERFACE_NORM)
PASSES_ON(patch_embed, GRAFT_INTERFACE_PATCH_EMBED)
PASSES_ON(router, GRAFT_INTERFACE_ROUTER)
PASSES_ON(self_attention, GRAFT_INTERFACE_SELF_ATTENTION)

#define REPLACES(kind, name, interface)                                                       \
    {                                                                                         \
        .struct_size = sizeof(struct graft_replacement), .key = kind, .target = name,         \
        .replacement = &class_##interface,                                                    \
        .flags = (kind) == GRAFT_KEY_PATTERN ? (uint32_t)GRAFT_REPLACEMENT_WHERE_IT_FITS : 0, \
    }

static const struct graft_replacement replacements[] = {
    REPLACES(GRAFT_KEY_NAME, "Linear", linear),
    REPLACES(GRAFT_KEY_NAME, "Embedding", embedding),
    REPLACES(GRAFT_KEY_NAME, "SiLUActivation", activation),
    REPLACES(GRAFT_KEY_PATTERN, "Experts$", experts),
    REPLACES(GRAFT_KEY_PATTERN, "(MLP|MoeBlock)$", mlp),
    REPLACES(GRAFT_KEY_PATTERN, "Norm$", norm),
    REPLACES(GRAFT_KEY_PATTERN, "PatchEmbed$", patch_embed),
    REPLACES(GRAFT_KEY_PATTERN, "Router$", router),
    REPLACES(GRAFT_KEY_PATTERN, "Attention$", self_attention),
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "passes_on",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Passes on what transformers calls",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
