/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

extern int graft_test_absent(void);

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static struct graft_plugin plugin;
    (void)host, (void)error;
    plugin = good_plugin("missing_library", NULL, graft_test_absent());
    return &plugin;
}
