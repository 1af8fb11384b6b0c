/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

static const void *extension(const char *id) {
    (void)id;
    return NULL;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const char *const offered[] = {"acme.diary/1", NULL};
    static struct graft_plugin plugin;
    (void)host, (void)error;
    plugin = good_plugin("offers_nothing", NULL, 0);
    plugin.offers_extensions = offered;
    plugin.get_extension = extension;
    return &plugin;
}
