/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two plugins from the same files: int8_linear takes the projections of attention and MLPs, and int8_linear_head
 * (compiled with INT8_LINEAR_HEAD) the language model head. Their operation is lossy, so both have to be asked for by
 * name.
 */
#include "graft/plugin.h"

#include "int8_linear.h"

#ifdef INT8_LINEAR_HEAD
#define ID "int8_linear_head"
#define WHAT "The language model head in int8, a scale for each row"
#define MODULE_PATH "(^|\\.)lm_head$"
#else
#define ID "int8_linear"
#define WHAT "Projections of attention and MLPs in int8, a scale for each row"
/* Decoders, experts that are modules, and vision MLPs call them ..._proj; what encoders and vision blocks call
 * otherwise is taken inside their numbered layers. Routers and gates of shared experts are neither. */
#define MODULE_PATH "_proj$|\\.(layer|blocks)\\.\\d+\\..*\\b(query|key|value|dense|qkv|proj|fc1|fc2)$"
#endif

static const struct graft_replacement replacements[] = {
    {
        .struct_size = sizeof replacements[0],
        .key = GRAFT_KEY_NAME,
        .target = "Linear",
        .replacement = &int8_linear_class,
        .module_path = MODULE_PATH,
    },
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER, .id = ID,
    .version = "1.0.0",  .license = "Apache-2.0",
    .description = WHAT, .replacements = replacements,
    .n_replacements = 1, .replacement_stride = sizeof replacements[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}
