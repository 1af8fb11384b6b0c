/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts plugins in an order in which each finds the extensions that it uses: plugins whose extensions a plugin
 * requires or uses are started before it and stopped after it. All functions are called with plugin.c's lock held.
 */
#ifndef GRAFT_PLUGIN_START_H
#define GRAFT_PLUGIN_START_H

#include "plugin/plugin.h"

/* A set and the sets started before it. If two plugins offer the same extension, that of the earlier set is used, and
 * within a set the one of lower rank. */
struct graft_plugin_scope {
    struct graft_plugin_set *set;
    const struct graft_plugin_set *const *others;
    size_t n_others;
};

/* The plugin of a set that offers an extension to `asking`, other than `asking` itself; NULL if there is none. */
const struct graft_loaded_plugin *graft_plugin_offering(const struct graft_plugin_set *set, const char *id,
                                                        const struct graft_loaded_plugin *asking);

/* The plugin of the set to start next: one that waits for no other, unless all wait for each other. NULL once all are
 * started. */
struct graft_loaded_plugin *graft_plugin_next(const struct graft_plugin_scope *scope);

/* Starts a plugin. Errors are those of graft_plugin_ref_init and GRAFT_ERROR_PLUGIN: no plugin offers what it requires,
 * it is part of a circle, its `init` failed, or it lacks what it offers. */
int graft_plugin_start(const struct graft_plugin_scope *scope, struct graft_loaded_plugin *plugin,
                       struct graft_error *error);

#endif
