/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"
#include "graft/experts_implementation.h"

static int forward(const struct graft_experts_implementation *self, const struct graft_call *call,
                   const struct graft_experts_input *input, struct graft_error *error) {
    (void)self, (void)call, (void)input, (void)error;
    return GRAFT_OK;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static struct graft_plugin plugin;
    (void)host, (void)error;

    static struct graft_experts_implementation experts[2];
    experts[0] =
        (struct graft_experts_implementation){.struct_size = sizeof experts[0], .name = "sorted", .forward = forward};
    experts[1] = experts[0];
    plugin = good_plugin("experts_twice", NULL, 0);
    plugin.experts_implementations = experts;
    plugin.n_experts_implementations = 2;
    plugin.experts_implementation_stride = sizeof experts[0];
    return &plugin;
}
