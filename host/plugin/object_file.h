/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a plugin's file before the dynamic linker opens it. */
#ifndef GRAFT_PLUGIN_OBJECT_FILE_H
#define GRAFT_PLUGIN_OBJECT_FILE_H

#include "graft/error.h"

/* [any] Checks a plugin's file. Refuses, as GRAFT_ERROR_PLUGIN:
 * - files that would hang or kill the process in dlopen: anything but a regular file (a FIFO waits for ever), and a
 * truncated object (the dynamic linker maps what is missing, and reading it raises SIGBUS);
 * - files that other users could have put there: the file, or its directory, is writable for everybody. A directory
 * with the sticky bit (/tmp) is accepted if the file is this user's or root's;
 * - an object whose `entry` is weak or not a function, or that exports a name of the C library.
 * Sets `*has_entry` to 0 if the object does not export `entry`. Anything that the dynamic linker refuses by itself
 * passes here with `*has_entry` 1, because its message is better. */
int graft_object_file_check(const char *file, const char *entry, int *has_entry, struct graft_error *error);

#endif
