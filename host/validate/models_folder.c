/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2, close_range */
#include "validate/models_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/folder.h"

/* Waits until all other ends of the pipe are closed, then removes the folder. Closes its other files, so that readers
 * of our output do not wait for it. */
_Noreturn static void keep(const char *path, int alive) {
    char byte;
    (void)setsid();
    if (dup2(alive, STDIN_FILENO) == STDIN_FILENO && close_range(STDIN_FILENO + 1, ~0U, 0) == 0) {
        while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
        }
        graft_folder_remove(path);
    }
    _exit(0);
}

/* Starts the keeper, detached: children of this process are taken for the plugins' (base/child.h). Returns 0 or an
 * errno. */
static int start_keeper(struct graft_models_folder *folder) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return errno;
    }
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[1]);
        if (fork() == 0) {
            keep(folder->path, ends[0]);
        }
        _exit(0);
    }
    int failed = child < 0 ? errno : 0;
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    (void)close(ends[0]);
    folder->alive = ends[1];
    return failed;
}

int graft_models_folder_init(struct graft_models_folder *folder, struct graft_error *error) {
    *folder = (struct graft_models_folder){.alive = -1};
    /* in memory unless TMPDIR says otherwise */
    const char *fallback = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    int status = graft_folder_make_temporary(fallback, "validate", &folder->path, error);
    if (status != GRAFT_OK) {
        return status;
    }
    int failed = start_keeper(folder);
    return failed == 0 ? GRAFT_OK
                       : graft_fail_errno(error, GRAFT_ERROR_IO, folder->path,
                                          "the process that removes this folder cannot be started", failed);
}

void graft_models_folder_finish(struct graft_models_folder *folder) {
    if (folder->path != NULL) {
        graft_folder_remove(folder->path);
        graft_free(folder->path);
    }
    if (folder->alive >= 0) {
        (void)close(folder->alive);
    }
    *folder = (struct graft_models_folder){.alive = -1};
}
