/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_plugin plugin;
    plugin = good_plugin("abi_major", NULL, 0);
    plugin.abi_major = 2;
    plugin.abi_minor_needed = 2;
    plugin.abi_minor_built = 3;
    plugin.struct_size = 64;
    return &plugin;
}
