/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"
#include "graft/family.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const struct graft_family family = {.struct_size = sizeof family, .model_type = "nothing"};
    static struct graft_plugin plugin;
    (void)host, (void)error;
    plugin = good_plugin("family_empty", NULL, 0);
    plugin.families = &family;
    plugin.n_families = 1;
    plugin.family_stride = sizeof family;
    return &plugin;
}
