/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that are made and removed with what is in them. All functions are [any]. */
#ifndef GRAFT_BASE_FOLDER_H
#define GRAFT_BASE_FOLDER_H

#include "graft/error.h"

/* Makes the folder graft-NAME-XXXXXX, which only this user may enter, in TMPDIR or, without it, in `fallback`. The
 * caller frees `path`, which is NULL after an error: GRAFT_ERROR_IO, or GRAFT_ERROR_INTERNAL if memory ran out. */
int graft_folder_make_temporary(const char *fallback, const char *name, char **path, struct graft_error *error);

/* Makes a folder and all those above it that are missing. `path` is changed during the call. */
int graft_folder_make_all(char *path, struct graft_error *error);

/* Removes a folder with everything in it, as far as that can be done. Links are not followed. */
void graft_folder_remove(const char *path);

#endif
