/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of its entry returns another version. */
#define ENTRY
#include "../behaving.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const char *const versions[] = {"1.0.0", "1.0.1"};
    static int calls;
    (void)host, (void)error;
    behaving_plugin.version = versions[calls++ % 2];
    return &behaving_plugin;
}
