/* SPDX-License-Identifier: Apache-2.0 */
#include "chains/chain_implementation.h"

#include <string.h>

#include "plugin/check.h"

/* Whether the implementation is for these classes, in this order. */
static int fits(const struct graft_chain *implementation, const struct graft_fused_chain *chain) {
    if ((size_t)implementation->n_classes != chain->n) {
        return 0;
    }
    for (size_t i = 0; i < chain->n; i++) {
        const struct graft_node *node = chain->modules[i].node;
        if (strcmp(implementation->class_names[i], node->class_name) != 0 ||
            strcmp(implementation->interface_ids[i], node->made_by->cls->interface_id) != 0) {
            return 0;
        }
    }
    return 1;
}

/* A plugin's first implementation that fits, or NULL. */
static const struct graft_chain *find(const struct graft_plugin *plugin, const struct graft_fused_chain *chain) {
    for (int32_t i = 0; i < plugin->n_chains; i++) {
        const struct graft_chain *implementation = graft_array_at(plugin->chains, plugin->chain_stride, i);
        if (fits(implementation, chain)) {
            return implementation;
        }
    }
    return NULL;
}

int graft_chain_implementation_choose(struct graft_fused_chain *chain, const struct graft_snapshot *snapshot,
                                      struct graft_error *error) {
    const struct graft_known_plugin *known;
    int rank = 0;
    for (size_t i = 0; (known = graft_snapshot_plugin_at(snapshot, i)) != NULL; i++) {
        const struct graft_chain *implementation = find(known->descriptor, chain);
        if (implementation == NULL) {
            continue;
        }
        if (chain->implementation != NULL && known->origin.rank == rank) {
            (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, chain->modules[0].node->path,
                                  "plugins %s and %s both implement this chain", chain->plugin, known->descriptor->id);
            graft_error_hint(error, "load the one that should win first, or leave one out");
            return GRAFT_ERROR_PLUGIN;
        }
        if (chain->implementation == NULL || known->origin.rank < rank) {
            chain->implementation = implementation;
            chain->plugin = known->descriptor->id;
            rank = known->origin.rank;
        }
    }
    return GRAFT_OK;
}
