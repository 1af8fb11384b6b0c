/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a model directory: untrusted, regular files only. */
#ifndef GRAFT_BASE_FILE_H
#define GRAFT_BASE_FILE_H

#include <stddef.h>

#include "graft/error.h"

/* [any] Opens for reading without blocking on FIFOs; anything but a regular file is an error. Returns GRAFT_OK and the
 * descriptor and size. `code` is the status of its errors. */
int graft_file_open(const char *path, int code, int *fd, size_t *size, struct graft_error *error);

/* [any] The whole file with a NUL after it; the caller frees it with graft_free. */
int graft_file_read(const char *path, size_t max_bytes, int code, char **text, size_t *length,
                    struct graft_error *error);

/* [any] Whether there is something under that name, of whatever kind, a dangling link included. */
int graft_file_exists(const char *path);

struct graft_file_piece {
    const void *data;
    size_t bytes;
};

/* [any] Writes `n` pieces, one after another, to a new file beside `path`, syncs it and renames it, so that `path`
 * holds the old or the new content, never half of it. An existing `path` must be a regular file. Errors are
 * GRAFT_ERROR_IO. */
int graft_file_write(const char *path, const struct graft_file_piece *pieces, size_t n, struct graft_error *error);

/* [any] The part of a path behind its last slash, in it. */
const char *graft_path_name(const char *path);

/* [any] "a/b" from "a" and "b"; the caller frees it. */
char *graft_path_join(const char *folder, const char *name);

#endif
