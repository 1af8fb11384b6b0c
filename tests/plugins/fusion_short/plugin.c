/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_fusion_family families[1];
    static struct graft_plugin plugin;
    families[0] = good_family();
    plugin = good_fusing_plugin("fusion_short", families, 1);
    families[0].struct_size = 16;
    return &plugin;
}
