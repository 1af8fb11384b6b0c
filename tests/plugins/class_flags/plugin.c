/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_class class;
    static struct graft_replacement replacement;
    static struct graft_plugin plugin;
    class = good_class(NULL, 0);
    replacement = good_replacement(&class);
    plugin = good_plugin("class_flags", &replacement, 1);
    class.flags = 0x40000010;
    return &plugin;
}
