/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder that is filled under a temporary name and then put in place as a whole. Shared by the units of this folder
 * only; all functions are [load], errors GRAFT_ERROR_IO.
 */
#ifndef GRAFT_SAVE_STAGING_H
#define GRAFT_SAVE_STAGING_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "graft/error.h"

struct save_staging {
    char *path;  /* path of the temporary folder, "OUTPUT.tmp-..." */
    char *final; /* final path, links resolved */
    int lock;    /* descriptor that locks the temporary folder; -1 where the file system has no locks */
};

/* Whether `output` can be written: it does not exist or is an empty folder, and it is not the folder `source`. */
int graft_save_staging_check(const char *output, const char *source, struct graft_error *error);

/* Makes the temporary folder. Temporary folders that earlier saves to the same place left are removed and named in
 * `cleared`, unless a process still works on them. The caller ends with a commit or an abort. */
int graft_save_staging_begin(const char *output, struct save_staging *staging, struct graft_text *cleared,
                             struct graft_error *error);

/* Steps of graft_save_staging_begin: locking a folder (the descriptor, or -1), removing a folder with its content, and
 * removing what killed saves to `final` left. */
int graft_save_folder_lock(const char *path);
void graft_save_folder_remove(const char *path);
void graft_save_staging_clear(const char *final, struct graft_text *cleared);

/* Renames the folder to its final path. On failure the folder is removed. `staging` is finished either way. */
int graft_save_staging_commit(struct save_staging *staging, struct graft_error *error);

/* Removes the temporary folder and its content. */
void graft_save_staging_abort(struct save_staging *staging);

/* A new file in the temporary folder. `name` may be "FOLDER/NAME" of a folder made with save_staging_folder. Messages
 * name the final path. */
struct save_file {
    char *path;  /* path in the temporary folder */
    char *shown; /* final path, for messages */
    int fd;
    int64_t written;
    int64_t begun; /* bytes whose writing to the disk has begun */
};
int graft_save_file_begin(const struct save_staging *staging, const char *name, struct save_file *file,
                          struct graft_error *error);
int graft_save_file_write(struct save_file *file, const void *bytes, size_t size, struct graft_error *error);

/* Syncs the file, unless `status` is an error already, and closes it. Returns `status`, or the status of this call.
 * `file` is finished. */
int graft_save_file_end(struct save_file *file, int status, struct graft_error *error);

int graft_save_staging_folder(const struct save_staging *staging, const char *name, struct graft_error *error);

#endif
