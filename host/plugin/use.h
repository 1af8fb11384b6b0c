/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin in use: from its file, or a program's memory, to a validated descriptor, and from `init` to `deinit`. One
 * per descriptor, however many sets share it. All functions but graft_use_options are called with plugin.c's lock held.
 */
#ifndef GRAFT_PLUGIN_USE_H
#define GRAFT_PLUGIN_USE_H

#include "graft/error.h"
#include "graft/plugin.h"
#include "plugin/options.h"

struct graft_use;

/* Opens the file, calls its entry function and validates the descriptor's identity; what is in use already is only
 * counted. `*use` is NULL when the object does not export the entry function. The caller ends with graft_use_close. */
int graft_use_open(const char *file, struct graft_use **use, struct graft_error *error);

/* As graft_use_open, for a descriptor in memory, which stays const and valid until the last graft_use_close. */
int graft_use_take(const struct graft_plugin *descriptor, struct graft_use **use, struct graft_error *error);

/* The plugin's, const until the last graft_use_close. */
const struct graft_plugin *graft_use_descriptor(const struct graft_use *use);

/* Validates the rest of the descriptor; from then on its object stays mapped. */
int graft_use_accept(struct graft_use *use, const char *file, struct graft_error *error);

/* Calls `init` of an accepted plugin, once, which finds the options' `values` then. That other values were chosen
 * before is an error (GRAFT_ERROR_USAGE). */
int graft_use_init(struct graft_use *use, const char *file, struct graft_option_values *values,
                   struct graft_error *error);

/* [any] struct graft_host's `options`. */
const struct graft_args *graft_use_options(const struct graft_plugin *descriptor);

/* With the last one `deinit` is called, if `init` was. Takes NULL. */
void graft_use_close(struct graft_use *use);

#endif
