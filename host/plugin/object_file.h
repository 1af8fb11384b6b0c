/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a plugin's file before the dynamic linker opens it. */
#ifndef GRAFT_PLUGIN_OBJECT_FILE_H
#define GRAFT_PLUGIN_OBJECT_FILE_H

#include "graft/error.h"

/*
 * [any] Refuses, as GRAFT_ERROR_PLUGIN:
 * - what would hang or kill the process in dlopen: anything but a regular file (a FIFO waits for ever), and an object
 *   truncated after its program headers (the dynamic linker maps what is not there and dies of SIGBUS);
 * - what others could put there: a file that everybody may write to, or that lies in a directory that everybody may
 *   write to. A directory with the sticky bit (/tmp) will do for a file of this user's or root's, which nobody else
 *   can take out of it;
 * - an object whose `entry` is weak or no function, or that exports a name of the C library.
 * `*has_entry` is 0 when the object does not export `entry`. What the dynamic linker can refuse by itself passes, as if
 * it had one: its words are better.
 */
int graft_object_file_check(const char *file, const char *entry, int *has_entry, struct graft_error *error);

#endif
