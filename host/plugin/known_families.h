/* SPDX-License-Identifier: Apache-2.0 */
/* The model families that a family file may be like. */
#ifndef GRAFT_PLUGIN_KNOWN_FAMILIES_H
#define GRAFT_PLUGIN_KNOWN_FAMILIES_H

#include "plugin/plugin.h"

/* Starts as {0}. */
struct graft_known_families {
    const struct graft_family **families; /* [n + 1], NULL-terminated */
    struct graft_use **uses;              /* [n]: of the plugin that brings it; NULL: the host's */
    size_t n;
};

/* The host's, then those of plugins in the set, then of those before it. The caller finishes it, also on failure. */
int graft_known_families_collect(const struct graft_plugin_options *options, const struct graft_plugin_set *set,
                                 struct graft_known_families *known, struct graft_error *error);
void graft_known_families_finish(struct graft_known_families *known);

#endif
