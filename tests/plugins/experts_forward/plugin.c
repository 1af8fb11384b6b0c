/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"
#include "graft/experts_implementation.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static struct graft_plugin plugin;
    (void)host, (void)error;

    static struct graft_experts_implementation experts;
    experts = (struct graft_experts_implementation){.struct_size = sizeof experts, .name = "sorted"};
    plugin = good_plugin("experts_forward", NULL, 0);
    plugin.experts_implementations = &experts;
    plugin.n_experts_implementations = 1;
    plugin.experts_implementation_stride = sizeof experts;
    return &plugin;
}
