/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes files of model directories, which are untrusted and must be regular files. */
#ifndef GRAFT_BASE_FILE_H
#define GRAFT_BASE_FILE_H

#include <stddef.h>

#include "graft/error.h"

/* [any] Opens a regular file for reading and sets its descriptor and size. Anything else is an error, without blocking
 * on FIFOs. `code` is the status of errors. */
int graft_file_open(const char *path, int code, int *fd, size_t *size, struct graft_error *error);

/* [any] Reads the next `size` bytes of a file, or fewer where it ends; `*length` says how many. Returns 0 or an errno.
 */
int graft_file_read_bytes(int fd, void *to, size_t size, size_t *length);

/* [any] Reads the whole file and appends a NUL; the caller frees the content with graft_free. */
int graft_file_read(const char *path, size_t max_bytes, int code, char **text, size_t *length,
                    struct graft_error *error);

/* [any] Whether something of that name exists, of any kind, including a dangling link. */
int graft_file_exists(const char *path);

struct graft_file_piece {
    const void *data;
    size_t bytes;
};

/* [any] Writes `n` pieces to a new file next to `path`, syncs it and renames it, so that `path` always holds either the
 * old or the new content. An existing `path` must be a regular file. Errors are GRAFT_ERROR_IO. */
int graft_file_write(const char *path, const struct graft_file_piece *pieces, size_t n, struct graft_error *error);

/* [any] Writes `n` pieces to a file in a temporary folder of this process: in place, and nobody waits for the disk.
 * Errors are GRAFT_ERROR_IO. */
int graft_file_write_temporary(const char *path, const struct graft_file_piece *pieces, size_t n,
                               struct graft_error *error);

/* [any] The part of a path after its last slash, as a pointer into it. */
const char *graft_path_name(const char *path);

/* [any] "a/b" from "a" and "b"; the caller frees it. */
char *graft_path_join(const char *folder, const char *name);

#endif
