/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest plugin: one class, which replaces another by name. */
#include <math.h>

#include "graft/activation.h"
#include "graft/describe.h"
#include "graft/plugin.h"

/* y = x * sigmoid(x). `self` would be what `create` returned; this class has no `create`. */
static int forward(void *self, const struct graft_call *call, const struct graft_activation_args *args,
                   struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int64_t i = 0; i < args->count; i++) {
        args->y[i] = args->x[i] / (1.0f + expf(-args->x[i]));
    }
    return GRAFT_OK;
}

static const struct graft_activation vtable = {.struct_size = sizeof vtable, .forward = forward};
static const struct graft_class my_silu = {.struct_size = sizeof my_silu,
                                           .name = "MySiLU",
                                           .interface_id = GRAFT_INTERFACE_ACTIVATION,
                                           .create = graft_create_stateless,
                                           .forward = &vtable};
static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement, .key = GRAFT_KEY_NAME, .target = "SiLUActivation", .replacement = &my_silu};
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = "my_silu",
                                           .version = "0.1.0",
                                           .license = "Apache-2.0",
                                           .description = "SiLU in plain C",
                                           .replacements = &replacement,
                                           .n_replacements = 1,
                                           .replacement_stride = sizeof replacement};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
