/* SPDX-License-Identifier: Apache-2.0 */
/* A self-attention that replaces every class matched by the pattern TARGET, and calls the original. */
#include "graft/attention.h"
#include "graft/plugin.h"

static int forward(void *self, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    return graft_self_attention_forward(self, call, args, error);
}

static const struct graft_self_attention vtable = {.struct_size = sizeof vtable, .forward = forward};

static const struct graft_class custom = {
    .struct_size = sizeof custom,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "CustomSelfAttention",
    .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
    .forward = &vtable,
};

static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement,
    .key = GRAFT_KEY_PATTERN,
    .target = TARGET,
    .replacement = &custom,
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "attention_pattern",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Self-attention by a pattern",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
