/* SPDX-License-Identifier: Apache-2.0 */
/* A Linear with an additional parameter of zeros, which a plan lists wherever the class takes effect. PROBE and the
 * plugin's id select what it replaces:
 * - at: modules by their path, here one Linear of one expert
 * - without: modules by a condition on their tensors, here a Linear that has no weight
 * - asking: all Linears; `describe` reads the path, and the module's name in config.json
 * - patched: only modules that a patch file names
 * - counting: all Linears; the parameter's name counts descriptions, of which a class that is the same everywhere needs
 * few */
#include <stdio.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/plugin.h"

static int says(const char *probe) {
    return strcmp(PROBE, probe) == 0;
}

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    static int count;
    const int64_t shape[] = {1};
    char name[32] = "extra";
    (void)self;
    (void)config;
    (void)args;
    sink->base(sink->data, NULL, error);
    if (says("asking") && strcmp(sink->config_path, "model.layers.1.mlp.experts.2.w1") == 0) {
        (void)snprintf(name, sizeof name, "extra_w1");
    } else if (says("asking") && strcmp(sink->path, "model.layers.1.mlp.experts.2.up_proj") != 0) {
        return error->code;
    }
    if (says("counting")) {
        (void)snprintf(name, sizeof name, "extra_%d", ++count);
    }
    return graft_describe_parameter(sink, name, 1, shape, 0, GRAFT_INIT_ZEROS, error);
}

static const char *const weights[] = {"weight", NULL};
static const struct graft_condition has_no_weight = {sizeof has_no_weight, GRAFT_CONDITION_NO_TENSOR, NULL, weights};

static struct graft_class probe_linear = {.struct_size = sizeof probe_linear,
                                          .name = "ProbeLinear",
                                          .interface_id = GRAFT_INTERFACE_LINEAR,
                                          .describe = describe};
static struct graft_replacement replacement = {.struct_size = sizeof replacement,
                                               .key = GRAFT_KEY_NAME,
                                               .target = "Linear",
                                               .replacement = &probe_linear,
                                               .condition_stride = sizeof has_no_weight};
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = PROBE,
                                           .version = "1.0.0",
                                           .license = "Apache-2.0",
                                           .description = "A Linear that shows where it is",
                                           .replacements = &replacement,
                                           .n_replacements = 1,
                                           .replacement_stride = sizeof replacement};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    if (says("at")) {
        replacement.module_path = "^model\\.layers\\.1\\.mlp\\.experts\\.2\\.up_proj$";
    } else if (says("without")) {
        replacement.conditions = &has_no_weight;
        replacement.n_conditions = 1;
    } else if (says("patched")) {
        replacement.flags = GRAFT_REPLACEMENT_ON_REQUEST;
    } else if (says("counting")) {
        probe_linear.flags = GRAFT_CLASS_SAME_ANYWHERE;
    }
    return &plugin;
}
