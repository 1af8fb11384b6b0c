/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/operations.h"

#include <string.h>

int graft_snapshot_operation_at(const struct graft_snapshot *snapshot, size_t i, struct graft_named_operation *found) {
    const struct graft_known_plugin *known;
    for (size_t k = 0; (known = graft_snapshot_plugin_at(snapshot, k)) != NULL; k++) {
        const struct graft_plugin *plugin = known->descriptor;
        if (i < (size_t)plugin->n_custom_operations) {
            *found = (struct graft_named_operation){plugin->id, graft_plugin_custom_operation(plugin, (int32_t)i)};
            return 1;
        }
        i -= (size_t)plugin->n_custom_operations;
    }
    return 0;
}

const struct graft_custom_operation *graft_snapshot_operation(const struct graft_snapshot *snapshot, const char *plugin,
                                                              const char *name) {
    struct graft_named_operation found;
    for (size_t i = 0; snapshot != NULL && graft_snapshot_operation_at(snapshot, i, &found); i++) {
        if (strcmp(found.plugin, plugin) == 0 && strcmp(found.operation->name, name) == 0) {
            return found.operation;
        }
    }
    return NULL;
}

const char *graft_snapshot_operation_plugin(const struct graft_snapshot *snapshot,
                                            const struct graft_custom_operation *operation) {
    struct graft_named_operation found;
    for (size_t i = 0; snapshot != NULL && graft_snapshot_operation_at(snapshot, i, &found); i++) {
        if (found.operation == operation) {
            return found.plugin;
        }
    }
    return NULL;
}
