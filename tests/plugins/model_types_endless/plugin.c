/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static const char *types[1000];
    static struct graft_class class;
    static struct graft_replacement replacement;
    static struct graft_plugin plugin;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        types[i] = "llama";
    }
    class = good_class(NULL, 0);
    replacement = good_replacement(&class);
    replacement.model_types = types;
    plugin = good_plugin("model_types_endless", &replacement, 1);
    return &plugin;
}
