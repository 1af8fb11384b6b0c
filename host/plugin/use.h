/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin in use: from its file, or a program's memory, to a validated descriptor, and from `init` to `deinit`. One
 * per descriptor, however many sets share it. All functions but the last two are called with plugin.c's lock held.
 */
#ifndef GRAFT_PLUGIN_USE_H
#define GRAFT_PLUGIN_USE_H

#include "graft/error.h"
#include "graft/family.h"
#include "graft/plugin.h"
#include "plugin/options.h"

struct graft_use;

/* The function that makes an object a plugin (graft/plugin.h). */
#define GRAFT_PLUGIN_ENTRY "graft_plugin_entry"

/* Opens the file, calls its entry function and validates the descriptor's identity; what is in use already is only
 * counted. `*use` is NULL when the object does not export the entry function. The caller ends with graft_use_close. */
int graft_use_open(const char *file, struct graft_use **use, struct graft_error *error);

/* As graft_use_open, for a family file, which may be like one of `families` (family_file.h). Each call reads it anew.
 */
int graft_use_open_family(const char *file, const struct graft_family *const *families, struct graft_use **use,
                          struct graft_error *error);

/* The family that a family file is like; NULL for all else. */
const struct graft_family *graft_use_like(const struct graft_use *use);

/* The plugin that brings that family is in use as long as this one is. */
void graft_use_hold(struct graft_use *use, struct graft_use *like);

/* As graft_use_open, for a descriptor in memory, which stays const and valid until the last graft_use_close. */
int graft_use_take(const struct graft_plugin *descriptor, struct graft_use **use, struct graft_error *error);

/* The plugin's, const until the last graft_use_close. */
const struct graft_plugin *graft_use_descriptor(const struct graft_use *use);

/* Validates the rest of the descriptor; from then on its object stays mapped. */
int graft_use_accept(struct graft_use *use, const char *file, struct graft_error *error);

/* Gives an accepted plugin, before its `init`, what `provider`, which was started, offers under `id`. The provider is
 * in use as long as the plugin is. */
int graft_use_link(struct graft_use *use, const char *id, struct graft_use *provider, struct graft_error *error);

/* Takes back what a plugin that could not be started was given. */
void graft_use_forget(struct graft_use *use);

/* Calls `init` of an accepted plugin, once, which finds the options' `values` then. That other values were chosen
 * before is an error (GRAFT_ERROR_USAGE), that it does not have what it offers GRAFT_ERROR_PLUGIN. */
int graft_use_init(struct graft_use *use, const char *file, struct graft_option_values *values,
                   struct graft_error *error);

/* With the last one `deinit` is called, if `init` was. Accepts NULL. */
void graft_use_close(struct graft_use *use);

int graft_use_is_started(const struct graft_use *use);

/* [any] What struct graft_host calls `options` and `get_plugin_extension`. */
const struct graft_args *graft_use_options(const struct graft_plugin *descriptor);
const void *graft_use_extension(const struct graft_plugin *descriptor, const char *id);

/* Where the plugin of that id was opened; NULL: it is a program's, or unknown. Takes no lock: for a process that
 * crashes, and whoever holds the lock would not let go. */
const char *graft_use_file(const char *id);

#endif
