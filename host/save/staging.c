/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* for realpath */
#include "save/staging.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/disk.h"
#include "base/fail.h"
#include "base/file.h"

static int is_self(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Whether the folder is empty; -1 with errno set if it cannot be read. */
static int is_empty(const char *path) {
    DIR *stream = opendir(path);
    if (stream == NULL) {
        return -1;
    }
    const struct dirent *entry;
    do {
        entry = readdir(stream);
    } while (entry != NULL && is_self(entry->d_name));
    int empty = entry == NULL;
    (void)closedir(stream);
    return empty;
}

int graft_save_staging_check(const char *output, const char *source, struct graft_error *error) {
    struct stat there, from;
    if (stat(output, &there) != 0) {
        if (errno != ENOENT) {
            return graft_fail_errno(error, GRAFT_ERROR_IO, output, "cannot be examined", errno);
        }
        return graft_file_exists(output) ? graft_error_set(error, GRAFT_ERROR_IO, output, "is a broken link")
                                         : GRAFT_OK;
    }
    if (stat(source, &from) == 0 && there.st_dev == from.st_dev && there.st_ino == from.st_ino) {
        (void)graft_error_set(error, GRAFT_ERROR_IO, output, "is the directory that the model is read from");
        graft_error_hint(error, "name another directory");
        return GRAFT_ERROR_IO;
    }
    if (!S_ISDIR(there.st_mode)) {
        return graft_error_set(error, GRAFT_ERROR_IO, output, "expected no file or an empty directory, found a file");
    }
    int empty = is_empty(output);
    if (empty < 0) {
        return graft_fail_errno(error, GRAFT_ERROR_IO, output, "cannot be read", errno);
    }
    if (!empty) {
        (void)graft_error_set(error, GRAFT_ERROR_IO, output, "is a directory that is not empty");
        graft_error_hint(error, "remove it first, or name another directory");
        return GRAFT_ERROR_IO;
    }
    return GRAFT_OK;
}

/* `output` with links resolved if it exists, else without trailing slashes. */
static char *resolve(const char *output) {
    char *resolved = realpath(output, NULL);
    size_t length = strlen(output);
    while (length > 1 && output[length - 1] == '/') {
        length--;
    }
    char *copy = resolved != NULL ? graft_strdup(resolved) : graft_strndup(output, length);
    free(resolved);
    return copy;
}

static void staging_finish(struct save_staging *staging) {
    if (staging->lock >= 0) {
        (void)close(staging->lock);
    }
    graft_free(staging->path);
    graft_free(staging->final);
    *staging = (struct save_staging){.lock = -1};
}

int graft_save_staging_begin(const char *output, struct save_staging *staging, struct graft_text *cleared,
                             struct graft_error *error) {
    static atomic_uint counter;
    int number = EEXIST;
    *staging = (struct save_staging){.final = resolve(output), .lock = -1};
    if (staging->final != NULL) {
        graft_save_staging_clear(staging->final, cleared);
    }
    while (number == EEXIST) {
        graft_free(staging->path);
        staging->path = staging->final != NULL ? graft_format("%s.tmp-%ld-%u", staging->final, (long)getpid(),
                                                              atomic_fetch_add(&counter, 1))
                                               : NULL;
        number = staging->path != NULL ? graft_disk_make_folder(staging->path) : ENOMEM;
    }
    if (number == 0) {
        staging->lock = graft_save_folder_lock(staging->path);
        return GRAFT_OK;
    }
    staging_finish(staging);
    return number == ENOMEM ? graft_fail_memory(error, output)
                            : graft_fail_errno(error, GRAFT_ERROR_IO, output, "cannot be created", number);
}

/* Removes a folder and what is in it; the folders of a model directory are not deep. */
void graft_save_folder_remove(const char *path) {
    DIR *stream = opendir(path);
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        int fd = dirfd(stream);
        if (is_self(entry->d_name) || unlinkat(fd, entry->d_name, 0) == 0) {
            continue;
        }
        char *below = graft_path_join(path, entry->d_name);
        if (below != NULL) {
            graft_save_folder_remove(below);
        }
        graft_free(below);
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    (void)rmdir(path);
}

void graft_save_staging_abort(struct save_staging *staging) {
    if (staging->path != NULL) {
        graft_save_folder_remove(staging->path);
    }
    staging_finish(staging);
}

int graft_save_staging_commit(struct save_staging *staging, struct graft_error *error) {
    int number = graft_disk_sync_folder(staging->path);
    if (number == 0) {
        number = graft_disk_rename(staging->path, staging->final);
    }
    if (number != 0) {
        (void)graft_fail_errno(error, GRAFT_ERROR_IO, staging->final, "cannot be renamed into place", number);
        graft_save_staging_abort(staging);
        return GRAFT_ERROR_IO;
    }
    /* The folder is in place: a parent folder that cannot be synced is no reason to remove it again. */
    char *slash = strrchr(staging->path, '/');
    if (slash != NULL) {
        slash[slash == staging->path] = '\0';
    }
    (void)graft_disk_sync_folder(slash != NULL ? staging->path : ".");
    staging_finish(staging);
    return GRAFT_OK;
}

int graft_save_staging_folder(const struct save_staging *staging, const char *name, struct graft_error *error) {
    char *path = graft_path_join(staging->path, name);
    int number = path != NULL ? graft_disk_make_folder(path) : ENOMEM;
    graft_free(path);
    return number == 0        ? GRAFT_OK
           : number == ENOMEM ? graft_fail_memory(error, name)
                              : graft_fail_errno(error, GRAFT_ERROR_IO, name, "cannot be created", number);
}
