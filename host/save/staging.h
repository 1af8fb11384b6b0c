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
    char *path;  /* of the folder aside, "OUTPUT.tmp-..." */
    char *final; /* where it will be, links resolved */
    int lock;    /* held on the folder as long as it is aside; -1: none, where the file system has no locks */
};

/* Whether `output` can be written: nothing is there, or an empty folder, and it is not the folder `source`. */
int graft_save_staging_check(const char *output, const char *source, struct graft_error *error);

/* Makes the folder aside. What earlier saves to this place left there is removed and named in `cleared`, where nobody
 * is at work on it. The caller ends with a commit or an abort. */
int graft_save_staging_begin(const char *output, struct save_staging *staging, struct graft_text *cleared,
                             struct graft_error *error);

/* Parts of it: a descriptor that holds the lock of a folder, or -1; a folder with what is in it; what killed saves to
 * `final` left. */
int graft_save_folder_lock(const char *path);
void graft_save_folder_remove(const char *path);
void graft_save_staging_clear(const char *final, struct graft_text *cleared);

/* Puts the folder in place. On failure it is removed. `staging` is finished in any case. */
int graft_save_staging_commit(struct save_staging *staging, struct graft_error *error);

/* Removes the folder and what is in it. */
void graft_save_staging_abort(struct save_staging *staging);

/* A new file in the folder aside. `name` may be "FOLDER/NAME" of a folder made with save_staging_folder. Messages name
 * the final place. */
struct save_file {
    char *path;  /* where it is now */
    char *shown; /* where it will be */
    int fd;
    int64_t written;
    int64_t begun; /* so many of these bytes are on their way to the disk */
};
int graft_save_file_begin(const struct save_staging *staging, const char *name, struct save_file *file,
                          struct graft_error *error);
int graft_save_file_write(struct save_file *file, const void *bytes, size_t size, struct graft_error *error);

/* Syncs and closes, unless `status` is an error already; returns it, or that of this call. `file` is finished. */
int graft_save_file_end(struct save_file *file, int status, struct graft_error *error);

int graft_save_staging_folder(const struct save_staging *staging, const char *name, struct graft_error *error);

#endif
