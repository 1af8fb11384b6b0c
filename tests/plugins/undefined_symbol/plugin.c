/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

extern int graft_test_nowhere(struct graft_error *error);

static int start(struct graft_error *error) {
    return graft_test_nowhere(error);
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static struct graft_plugin plugin;
    (void)host, (void)error;
    plugin = good_plugin("undefined_symbol", NULL, 0);
    plugin.init = start;
    return &plugin;
}
