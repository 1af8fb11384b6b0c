/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static const char *const needed[] = {"graft.log/1", "graft.quantum/1", NULL};
    static struct graft_plugin plugin;
    plugin = good_plugin("extension_unknown", NULL, 0);
    plugin.requires_extensions = needed;
    return &plugin;
}
