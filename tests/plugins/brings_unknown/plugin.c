/* SPDX-License-Identifier: Apache-2.0 */
/* A valid plugin whose model type requires a field that no other type has, so that no test model can be made without a
 * checkpoint. */
#include "../parts.h"
#include "graft/causal_lm.h"
#include "graft/config.h"
#include "graft/family.h"

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t wings = 0;
    (void)self, (void)args, (void)sink;
    return graft_config_need_int(config, "num_wings", 1, 2, &wings, error);
}

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("WingedForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM), .describe = describe}};
static const struct graft_architecture architectures[] = {{"WingedForCausalLM", NULL}};
static const struct graft_family family = {.struct_size = sizeof family,
                                           .model_type = "winged",
                                           GRAFT_FAMILY_ARCHITECTURES(architectures),
                                           GRAFT_FAMILY_CLASSES(classes)};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static struct graft_plugin plugin;
    (void)host, (void)error;
    plugin = good_plugin("brings_unknown", NULL, 0);
    plugin.families = &family;
    plugin.n_families = 1;
    plugin.family_stride = sizeof family;
    return &plugin;
}
