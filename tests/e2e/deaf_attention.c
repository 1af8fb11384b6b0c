/* SPDX-License-Identifier: Apache-2.0 */
/* An attention implementation that declares no features, like one from before features existed. */
#include "graft/attention.h"
#include "graft/plugin.h"

static int forward(void *self, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    return graft_self_attention_forward(self, call, args, error);
}

static const struct graft_self_attention vtable = {.struct_size = sizeof vtable, .forward = forward};
static const struct graft_class deaf_attention = {.struct_size = sizeof deaf_attention,
                                                  .flags = GRAFT_CLASS_CALLS_SUPER,
                                                  .name = "DeafAttention",
                                                  .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
                                                  .forward = &vtable};
static const struct graft_replacement replacement = {.struct_size = sizeof replacement,
                                                     .key = GRAFT_KEY_PATTERN,
                                                     .target = "Attention$",
                                                     .replacement = &deaf_attention};
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = "deaf_attention",
                                           .version = "1.0.0",
                                           .license = "Apache-2.0",
                                           .description = "An attention that knows no features",
                                           .replacements = &replacement,
                                           .n_replacements = 1,
                                           .replacement_stride = sizeof replacement};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
