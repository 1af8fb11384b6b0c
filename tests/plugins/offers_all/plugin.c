/* SPDX-License-Identifier: Apache-2.0 */
/* It has something for everybody. */
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
