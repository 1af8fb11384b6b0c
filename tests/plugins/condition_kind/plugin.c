/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static const struct graft_condition condition = {.struct_size = sizeof condition, .kind = 5};
    static struct graft_class class;
    static struct graft_replacement replacement;
    static struct graft_plugin plugin;
    class = good_class(NULL, 0);
    replacement = good_replacement(&class);
    replacement.conditions = &condition;
    replacement.n_conditions = 1;
    replacement.condition_stride = sizeof condition;
    plugin = good_plugin("condition_kind", &replacement, 1);
    return &plugin;
}
