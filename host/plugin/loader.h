/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens shared objects through libltdl. All functions are [any]: a lock serialises the calls of libltdl, which is not
 * thread-safe.
 *
 * libltdl is started once and never shut down, so that kept objects stay mapped until the process ends.
 */
#ifndef GRAFT_PLUGIN_LOADER_H
#define GRAFT_PLUGIN_LOADER_H

#include "graft/error.h"

struct graft_object;

/* Opens `file`, whose name must end in ".so", with RTLD_NOW and RTLD_LOCAL. This runs the object's constructors, which
 * must not call this function. Files that object_file.h refuses are not opened; nor is an object that does not export
 * `entry`, for which `*object` becomes NULL. The error has the dynamic linker's message. The caller ends with
 * graft_object_keep or graft_object_close. A file that is kept is not opened again: the same object is returned, even
 * if the file has changed. */
int graft_object_open(const char *file, const char *entry, struct graft_object **object, struct graft_error *error);

/* The address of an exported symbol; NULL if there is none. */
void *graft_object_symbol(const struct graft_object *object, const char *name);

/* Keeps the object mapped until the process ends. */
void graft_object_keep(struct graft_object *object);

/* Unmaps an object unless it is kept. Accepts NULL. */
void graft_object_close(struct graft_object *object);

#endif
