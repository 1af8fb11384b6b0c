/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* for realpath */
#include "weights/shard_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Whether `path` is below the folder that the first `length` bytes of `folder` name. */
static int is_below(const char *path, const char *folder, size_t length) {
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || (length == 1 && folder[0] == '/'));
}

static int is_blob(const char *path, const char *root) {
    static const char snapshots[] = "/snapshots/", blobs[] = "/blobs/";
    const char *found = NULL;
    for (const char *at = strstr(root, snapshots); at != NULL; at = strstr(at + 1, snapshots)) {
        found = at;
    }
    if (found == NULL) {
        return 0;
    }
    size_t repository = (size_t)(found - root);
    return strncmp(path, root, repository) == 0 && strncmp(path + repository, blobs, sizeof blobs - 1) == 0;
}

int graft_shard_place_check(const char *root, const char *path, struct graft_error *error) {
    char *resolved = realpath(path, NULL);
    int status = GRAFT_OK;
    if (resolved == NULL) {
        return errno == ENOMEM ? graft_fail_memory(error, path)
                               : graft_fail_errno(error, GRAFT_ERROR_MODEL, path, "cannot be found", errno);
    }
    if (!is_below(resolved, root, strlen(root)) && !is_blob(resolved, root)) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, path,
                                 "is a link that leaves the model's directory, to \"%.300s\"", resolved);
    }
    free(resolved);
    return status;
}
