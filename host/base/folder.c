/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* mkdtemp, nftw */
#include "base/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"

int graft_folder_make_temporary(const char *fallback, const char *name, char **path, struct graft_error *error) {
    const char *given = getenv("TMPDIR");
    *path = graft_format("%s/graft-%s-XXXXXX", given != NULL && given[0] != '\0' ? given : fallback, name);
    if (*path == NULL) {
        return graft_fail_memory(error, name);
    }
    if (mkdtemp(*path) != NULL) {
        return GRAFT_OK;
    }
    int status = graft_fail_errno(error, GRAFT_ERROR_IO, *path, "a temporary folder cannot be made there", errno);
    graft_free(*path);
    *path = NULL;
    return status;
}

int graft_folder_make_all(char *path, struct graft_error *error) {
    for (char *at = path + 1;; at++) {
        if (*at != '/' && *at != '\0') {
            continue;
        }
        const char end = *at;
        *at = '\0';
        int failed = mkdir(path, 0755) != 0 && errno != EEXIST ? errno : 0;
        if (failed != 0) {
            return graft_fail_errno(error, GRAFT_ERROR_IO, path, "cannot be made", failed);
        }
        if (end == '\0') {
            return GRAFT_OK;
        }
        *at = end;
    }
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void graft_folder_remove(const char *path) {
    enum { MAX_FOLDERS = 16 };
    (void)nftw(path, remove_one, MAX_FOLDERS, FTW_DEPTH | FTW_PHYS);
}
