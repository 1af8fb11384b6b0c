/* SPDX-License-Identifier: Apache-2.0 */
/* Requires the host version that it was built with. */
#define ENTRY
#include "../behaving.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    if (host->abi_minor != GRAFT_ABI_MINOR) {
        (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, "behaving", "another host");
        return NULL;
    }
    return &behaving_plugin;
}
