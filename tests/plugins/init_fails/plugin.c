/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

static int refuse(struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, NULL, "the licence server does not answer");
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static struct graft_plugin plugin;
    (void)host, (void)error;
    plugin = good_plugin("init_fails", NULL, 0);
    plugin.init = refuse;
    return &plugin;
}
