/* SPDX-License-Identifier: Apache-2.0 */
/* Its class declares features that are not defined. */
#include "../parts.h"

static const struct graft_linear vtable = {
    .struct_size = sizeof vtable, .features = 0x80000000U, .forward = good_forward};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static struct graft_class cls;
    static struct graft_replacement replacement;
    static struct graft_plugin plugin;
    (void)host, (void)error;
    cls = good_class(NULL, 0);
    cls.forward = &vtable;
    replacement = good_replacement(&cls);
    plugin = good_plugin("features_unknown", &replacement, 1);
    return &plugin;
}
