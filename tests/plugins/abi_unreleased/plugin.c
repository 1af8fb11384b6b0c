/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_plugin plugin;
    plugin = good_plugin("abi_unreleased", NULL, 0);
    plugin.abi_released = 19991231;
    return &plugin;
}
