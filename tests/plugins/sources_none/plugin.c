/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_conversion conversion;
    static struct graft_class class;
    static struct graft_replacement replacement;
    static struct graft_plugin plugin;
    conversion = good_conversion();
    class = good_class(&conversion, 1);
    replacement = good_replacement(&class);
    plugin = good_plugin("sources_none", &replacement, 1);
    conversion.n_sources = 0;
    return &plugin;
}
