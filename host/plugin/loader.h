/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared objects, opened through libltdl. All functions are [any]: one lock serialises the calls of libltdl, which has
 * none of its own.
 *
 * libltdl is started once and never shut down, so that what is kept stays mapped until the process ends.
 */
#ifndef GRAFT_PLUGIN_LOADER_H
#define GRAFT_PLUGIN_LOADER_H

#include "graft/error.h"

struct graft_object;

/* Opens `file`, whose name must end in ".so", binding all its symbols now and keeping them to itself. This runs the
 * object's constructors, which must not come back here. What object_file.h refuses is not opened; neither is an object
 * that does not export `entry`, of which `*object` is NULL. The error carries the dynamic linker's own words. The
 * caller ends with graft_object_keep or graft_object_close. A file that is kept already is not opened again: the same
 * object comes back, also when the file on disk has changed since. */
int graft_object_open(const char *file, const char *entry, struct graft_object **object, struct graft_error *error);

/* Address of an exported symbol, NULL when there is none. */
void *graft_object_symbol(const struct graft_object *object, const char *name);

/* The object stays mapped until the process ends. */
void graft_object_keep(struct graft_object *object);

/* Unmaps an object that is not kept; of a kept one nothing happens. Accepts NULL. */
void graft_object_close(struct graft_object *object);

#endif
