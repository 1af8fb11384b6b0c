/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin in use: from its file, or a program's memory, to a validated descriptor, and from `init` to `deinit`. There
 * is one use for each descriptor, which sets share. All functions but the last two are called with plugin.c's lock
 * held.
 */
#ifndef GRAFT_PLUGIN_PLUGIN_REF_H
#define GRAFT_PLUGIN_PLUGIN_REF_H

#include "graft/error.h"
#include "graft/family.h"
#include "graft/plugin.h"
#include "plugin/family_file.h"
#include "plugin/options.h"

struct graft_plugin_ref;

/* The entry function, which makes an object a plugin (graft/plugin.h). */
#define GRAFT_PLUGIN_ENTRY "graft_plugin_entry"

/* Opens the file, calls its entry function and validates the descriptor's identity; a plugin in use is only counted
 * again. `*use` is NULL if the object does not export the entry function. The caller ends with graft_plugin_ref_close.
 */
int graft_plugin_ref_open(const char *file, struct graft_plugin_ref **use, struct graft_error *error);

/* Like graft_plugin_ref_open, for a family file, which may be like a family that `finder` finds (family_file.h). Each
 * call reads the file again. */
int graft_plugin_ref_open_family(const char *file, const struct graft_family_finder *finder,
                                 struct graft_plugin_ref **use, struct graft_error *error);

/* The family that a family file is like; NULL for any other plugin. */
const struct graft_family *graft_plugin_ref_like(const struct graft_plugin_ref *use);

/* Keeps the plugin that brings that family in use as long as this one. */
void graft_plugin_ref_hold(struct graft_plugin_ref *use, struct graft_plugin_ref *like);

/* Like graft_plugin_ref_open, for a descriptor in memory, which stays const and valid until the last
 * graft_plugin_ref_close. */
int graft_plugin_ref_take(const struct graft_plugin *descriptor, struct graft_plugin_ref **use,
                          struct graft_error *error);

/* The descriptor, const until the last graft_plugin_ref_close. */
const struct graft_plugin *graft_plugin_ref_descriptor(const struct graft_plugin_ref *use);

/* Validates the rest of the descriptor. From then on its object stays mapped. */
int graft_plugin_ref_accept(struct graft_plugin_ref *use, const char *file, struct graft_error *error);

/* Links an accepted plugin, before its `init`, to the extension `id` of `provider`, which was started. The provider
 * stays in use as long as the plugin. */
int graft_plugin_ref_link(struct graft_plugin_ref *use, const char *id, struct graft_plugin_ref *provider,
                          struct graft_error *error);

/* Removes the links of a plugin that could not be started. */
void graft_plugin_ref_forget(struct graft_plugin_ref *use);

/* Calls `init` of an accepted plugin, once, with the options' `values`. Other values chosen earlier are
 * GRAFT_ERROR_USAGE; a plugin that lacks what it offers is GRAFT_ERROR_PLUGIN. */
int graft_plugin_ref_init(struct graft_plugin_ref *use, const char *file, struct graft_option_values *values,
                          struct graft_error *error);

/* Ends a use. The last one calls `deinit`, if `init` was called. Accepts NULL. */
void graft_plugin_ref_close(struct graft_plugin_ref *use);

int graft_plugin_ref_is_started(const struct graft_plugin_ref *use);

/* [any] Implement `options` and `get_plugin_extension` of struct graft_host. */
const struct graft_args *graft_plugin_ref_options(const struct graft_plugin *descriptor);
const void *graft_plugin_ref_extension(const struct graft_plugin *descriptor, const char *id);

/* The file of the plugin of that id; NULL if it belongs to a program or is unknown. Takes no lock, as it is called when
 * the process crashes. */
const char *graft_plugin_ref_file(const char *id);

#endif
