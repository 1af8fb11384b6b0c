/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting plugins, in an order in which each finds what others offer it: those whose extensions a plugin requires or
 * uses are started before it, and stopped after it. All functions are called with plugin.c's lock held.
 */
#ifndef GRAFT_PLUGIN_START_H
#define GRAFT_PLUGIN_START_H

#include "plugin/plugin.h"

/* A set, and what was started before it. Of two plugins that offer one extension, that of the earlier set is taken, and
 * within a set the one of lower rank. */
struct graft_plugin_scope {
    struct graft_plugin_set *set;
    const struct graft_plugin_set *const *others;
    size_t n_others;
};

/* The plugin of a set that offers an extension to `asking`, which is not that one itself; NULL: none. */
const struct graft_loaded_plugin *graft_plugin_offering(const struct graft_plugin_set *set, const char *id,
                                                        const struct graft_loaded_plugin *asking);

/* The plugin of the set to be started next: one that waits for no other, unless they wait for each other. NULL: all
 * were. */
struct graft_loaded_plugin *graft_plugin_next(const struct graft_plugin_scope *scope);

/* Starts it. Errors are GRAFT_ERROR_PLUGIN: nobody offers what it requires, it waits for another one, its `init`
 * failed, it does not have what it offers; and those of graft_use_init. */
int graft_plugin_start(const struct graft_plugin_scope *scope, struct graft_loaded_plugin *plugin,
                       struct graft_error *error);

#endif
