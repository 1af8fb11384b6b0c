/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"
#include "graft/option.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    static const struct graft_option option = {.struct_size = sizeof option,
                                               .kind = GRAFT_OPTION_INT,
                                               .name = "How Many",
                                               .help = "How many",
                                               .default_value = "1"};
    static struct graft_plugin plugin;
    (void)host, (void)error;
    plugin = good_plugin("option_name", NULL, 0);
    plugin.options = &option;
    plugin.n_options = 1;
    plugin.option_stride = sizeof option;
    return &plugin;
}
