/* SPDX-License-Identifier: Apache-2.0 */
/* Offers an extension that `asking` would use, and waits for that of circle_back, which is built from this file too and
 * waits for this one. */
#include "../parts.h"

#include <string.h>

#ifndef ID
#define ID "circle_more"
#define OFFERED "acme.more/1"
#define USED "acme.back/1"
#endif

static const void *extension(const char *id) {
    return strcmp(id, OFFERED) == 0 ? ID : NULL;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const char *const offered[] = {OFFERED, NULL};
    static const char *const used[] = {USED, NULL};
    static struct graft_plugin plugin;
    (void)host, (void)error;
    plugin = good_plugin(ID, NULL, 0);
    plugin.offers_extensions = offered;
    plugin.uses_extensions = used;
    plugin.get_extension = extension;
    return &plugin;
}
