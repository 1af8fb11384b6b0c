/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the model families that a family file may be like: those of the host, those of the plugins in the set that is
 * being loaded, and those of sets loaded before. */
#ifndef GRAFT_PLUGIN_KNOWN_FAMILIES_H
#define GRAFT_PLUGIN_KNOWN_FAMILIES_H

#include "plugin/plugin.h"

struct graft_known_families {
    const struct graft_plugin_options *options;
    const struct graft_plugin_set *set;
};

/* Looks in `known`, which has to outlive the finder. */
struct graft_family_finder graft_known_families_finder(struct graft_known_families *known);

/* The plugin that brings a family which was found; NULL: the host. */
struct graft_plugin_ref *graft_known_families_use(const struct graft_known_families *known,
                                                  const struct graft_family *family);

#endif
