/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_plugin plugin;
    plugin = good_plugin("struct_short", NULL, 0);
    plugin.struct_size = GRAFT_PLUGIN_SIZE_1_0 - 8;
    return &plugin;
}
