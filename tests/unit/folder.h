/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary folder for a test, and files in it. */
#ifndef GRAFT_TEST_FOLDER_H
#define GRAFT_TEST_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path of `name` in `folder`, in one of a few static buffers. */
static inline const char *folder_path(const char *folder, const char *name) {
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Makes a new folder; `folder` has room for 64 bytes at least. */
static inline void folder_create(char *folder) {
    (void)snprintf(folder, 64, "/tmp/graft-test-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        abort();
    }
}

static inline void folder_put(const char *folder, const char *name, const void *bytes, size_t length) {
    FILE *file = fopen(folder_path(folder, name), "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) {
        abort();
    }
}

static inline void folder_make(const char *folder, const char *name) {
    if (mkdir(folder_path(folder, name), 0777) != 0) {
        abort();
    }
}

static inline void folder_link(const char *folder, const char *name, const char *target) {
    if (symlink(target, folder_path(folder, name)) != 0) {
        abort();
    }
}

/* The number of entries of the folder. */
static inline int folder_count(const char *folder) {
    DIR *stream = opendir(folder);
    int count = 0;
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    return count;
}

/* Removes the folder and everything in it. */
static inline void folder_remove(const char *folder) {
    DIR *stream = opendir(folder);
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        size_t bytes = strlen(folder) + strlen(entry->d_name) + 2;
        char *path = malloc(bytes);
        if (path == NULL) {
            abort();
        }
        (void)snprintf(path, bytes, "%s/%s", folder, entry->d_name);
        if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
            folder_remove(path);
        } else {
            (void)unlink(path);
        }
        free(path);
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    (void)rmdir(folder);
}

#endif
