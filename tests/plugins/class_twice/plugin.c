/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_class classes[2];
    static struct graft_plugin plugin;
    classes[0] = good_class(NULL, 0);
    classes[1] = good_class(NULL, 0);
    plugin = good_plugin("class_twice", NULL, 0);
    plugin.classes = classes;
    plugin.n_classes = 2;
    plugin.class_stride = sizeof classes[0];
    return &plugin;
}
