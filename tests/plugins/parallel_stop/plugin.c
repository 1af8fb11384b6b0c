/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"
#include "graft/parallel.h"

static int start(const struct graft_parallel **parallel, struct graft_error *error) {
    (void)parallel;
    (void)error;
    return GRAFT_OK;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const struct graft_parallel_provider provider = {.struct_size = sizeof provider, .start = start};
    static struct graft_plugin plugin;
    (void)host, (void)error;
    plugin = good_plugin("parallel_stop", NULL, 0);
    plugin.parallel = &provider;
    return &plugin;
}
