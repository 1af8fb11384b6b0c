/* SPDX-License-Identifier: Apache-2.0 */
/* Replacements that call the original, for nested modules that others replace as well, and two that form a group. */
#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/linear.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/plugin.h"

static int linear_forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                          struct graft_error *error) {
    return graft_linear_forward(self, call, args, error);
}

static int mlp_forward(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                       struct graft_error *error) {
    return graft_mlp_forward(self, call, args, error);
}

static int norm_forward(void *self, const struct graft_call *call, const struct graft_norm_args *args,
                        struct graft_error *error) {
    return graft_norm_forward(self, call, args, error);
}

static int layer_forward(void *self, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                         struct graft_error *error) {
    return graft_decoder_layer_forward(self, call, args, error);
}

static const struct graft_linear linear = {.struct_size = sizeof linear, .forward = linear_forward};
static const struct graft_mlp mlp = {.struct_size = sizeof mlp, .forward = mlp_forward};
static const struct graft_norm norm = {.struct_size = sizeof norm, .forward = norm_forward};
static const struct graft_decoder_layer layer = {.struct_size = sizeof layer, .forward = layer_forward};

static const struct graft_class classes[] = {
    {
        .struct_size = sizeof classes[0],
        .flags = GRAFT_CLASS_CALLS_SUPER,
        .name = "EchoLinear",
        .interface_id = GRAFT_INTERFACE_LINEAR,
        .forward = &linear,
    },
    {
        .struct_size = sizeof classes[0],
        .flags = GRAFT_CLASS_CALLS_SUPER,
        .name = "EchoMLP",
        .interface_id = GRAFT_INTERFACE_MLP,
        .forward = &mlp,
    },
    {
        .struct_size = sizeof classes[0],
        .flags = GRAFT_CLASS_CALLS_SUPER,
        .name = "EchoNorm",
        .interface_id = GRAFT_INTERFACE_NORM,
        .forward = &norm,
    },
    {
        .struct_size = sizeof classes[0],
        .flags = GRAFT_CLASS_CALLS_SUPER,
        .name = "EchoLayer",
        .interface_id = GRAFT_INTERFACE_DECODER_LAYER,
        .forward = &layer,
    },
};

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_NAME,
        .target = "Linear",
        .replacement = &classes[0],
    },
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_PATTERN,
        .target = "MLP$",
        .replacement = &classes[1],
        .module_path = "layers\\.[0-9]+\\.mlp$",
        .group = "feed_forward",
    },
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_PATTERN,
        .target = "RMSNorm$",
        .replacement = &classes[2],
        .module_path = "post_attention_layernorm",
        .group = "feed_forward",
    },
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_PATTERN,
        .target = "DecoderLayer$",
        .replacement = &classes[3],
    },
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "echo",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Calls what it replaces",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
