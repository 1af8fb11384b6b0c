/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

static const char *const patterns[] = {"stem$", "(stem", NULL};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_fusion_family families[1];
    static struct graft_plugin plugin;
    families[0] = good_family();
    plugin = good_fusing_plugin("fusion_pattern_bad", families, 1);
    families[0].target_modules_patterns = patterns;
    return &plugin;
}
