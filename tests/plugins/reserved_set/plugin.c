/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_plugin plugin;
    plugin = good_plugin("reserved_set", NULL, 0);
    plugin.reserved_later = 1;
    return &plugin;
}
