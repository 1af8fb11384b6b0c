/* SPDX-License-Identifier: Apache-2.0 */
/* Logs each call of an attention, then calls the original. */
#include <stdio.h>

#include "graft/attention.h"
#include "graft/log.h"
#include "graft/plugin.h"

static const struct graft_log *log_extension;

/* The class has no `describe` and `create`, so `self` is the module of the class that it replaces. */
static int forward(void *self, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct graft_module *super = self;
    char line[256];
    (void)snprintf(line, sizeof line, "%s: %lld tokens", super->path, (long long)args->batch->tokens);
    log_extension->line("logging_attention", line);
    return graft_self_attention_forward(super, call, args, error);
}

/* All features are declared, because calls are passed on unchanged. */
static const struct graft_self_attention vtable = {
    .struct_size = sizeof vtable, .features = UINT32_MAX, .forward = forward};
static const struct graft_class logging_attention = {.struct_size = sizeof logging_attention,
                                                     .flags = GRAFT_CLASS_CALLS_SUPER,
                                                     .name = "LoggingAttention",
                                                     .interface_id = GRAFT_INTERFACE_SELF_ATTENTION,
                                                     .forward = &vtable};
static const struct graft_replacement replacement = {.struct_size = sizeof replacement,
                                                     .key = GRAFT_KEY_PATTERN,
                                                     .target = "Attention$",
                                                     .replacement = &logging_attention,
                                                     .flags = GRAFT_REPLACEMENT_WHERE_IT_FITS};
static const char *const required[] = {GRAFT_LOG_ID, NULL};
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = "logging_attention",
                                           .version = "1.0.0",
                                           .license = "Apache-2.0",
                                           .description = "Logs each call of an attention",
                                           .requires_extensions = required,
                                           .replacements = &replacement,
                                           .n_replacements = 1,
                                           .replacement_stride = sizeof replacement};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    log_extension = host->get_extension(GRAFT_LOG_ID);
    (void)error;
    return &plugin;
}
