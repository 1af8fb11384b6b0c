/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin with a fault that verify has to find: SiLU times 1.01. It has a parameter that no checkpoint has. */
#include <math.h>

#include "graft/activation.h"
#include "graft/describe.h"
#include "graft/plugin.h"

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const int64_t length = 1;
    (void)self;
    (void)config;
    (void)args;
    return graft_describe_parameter(sink, "gain", 1, &length, 0, GRAFT_INIT_ONES, error);
}

static int forward(void *self, const struct graft_call *call, const struct graft_activation_args *args,
                   struct graft_error *error) {
    (void)self;
    (void)call;
    (void)error;
    for (int64_t i = 0; i < args->count; i++) {
        args->y[i] = 1.01F * args->x[i] / (1.0F + expf(-args->x[i]));
    }
    return GRAFT_OK;
}

static const struct graft_activation vtable = {.struct_size = sizeof vtable, .forward = forward};

static const struct graft_class wrong_silu = {
    .struct_size = sizeof wrong_silu,
    .name = "WrongSiLU",
    .interface_id = GRAFT_INTERFACE_ACTIVATION,
    .describe = describe,
    .create = graft_create_stateless,
    .forward = &vtable,
};

static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement,
    .key = GRAFT_KEY_NAME,
    .target = "SiLUActivation",
    .replacement = &wrong_silu,
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "wrong_silu",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "SiLU times 1.01",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
