/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the model families that a family file may be like. */
#ifndef GRAFT_PLUGIN_KNOWN_FAMILIES_H
#define GRAFT_PLUGIN_KNOWN_FAMILIES_H

#include "plugin/plugin.h"

/* Starts as {0}. */
struct graft_known_families {
    const struct graft_family **families; /* [n + 1], NULL-terminated */
    struct graft_plugin_ref **uses;       /* [n]: the plugin that brings each family; NULL: the host */
    size_t n;
};

/* Collects the host's families, then those of plugins in the set, then those of earlier sets. The caller finishes
 * `known`, also on failure. */
int graft_known_families_collect(const struct graft_plugin_options *options, const struct graft_plugin_set *set,
                                 struct graft_known_families *known, struct graft_error *error);
void graft_known_families_finish(struct graft_known_families *known);

#endif
