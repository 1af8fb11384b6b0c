/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    (void)self, (void)shapes, (void)error;
    return GRAFT_OK;
}

static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    (void)self, (void)work, (void)error;
    return GRAFT_OK;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_custom_operation operations[2];
    static struct graft_plugin plugin;
    operations[0] = (struct graft_custom_operation){
        .struct_size = sizeof operations[0], .name = "negated", .infer = infer, .apply = apply};
    operations[1] = operations[0];
    operations[1].name = "acme.negated";
    plugin = good_plugin("custom_name", NULL, 0);
    plugin.custom_operations = operations;
    plugin.n_custom_operations = 2;
    plugin.custom_operation_stride = sizeof operations[0];
    return &plugin;
}
