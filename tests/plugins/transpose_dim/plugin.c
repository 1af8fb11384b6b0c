/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static struct graft_conversion conversion;
    static struct graft_class class;
    static struct graft_replacement replacement;
    static struct graft_plugin plugin;
    static struct graft_operation operations[2];
    operations[0] = good_operations[0];
    operations[1] = good_operations[1];
    conversion = good_conversion();
    class = good_class(&conversion, 1);
    replacement = good_replacement(&class);
    plugin = good_plugin("transpose_dim", &replacement, 1);
    operations[1].kind = GRAFT_OP_TRANSPOSE;
    operations[1].dim1 = -9;
    conversion.operations = operations;
    return &plugin;
}
