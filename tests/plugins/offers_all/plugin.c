/* SPDX-License-Identifier: Apache-2.0 */
/* Returns an extension for every id, not only for the one that it offers. */
#define ENTRY
#include "../behaving.h"

static const void *extension(const char *id) {
    return id;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const char *const offered[] = {"behaving.one/1", NULL};
    (void)host, (void)error;
    behaving_plugin.offers_extensions = offered;
    behaving_plugin.get_extension = extension;
    return &behaving_plugin;
}
