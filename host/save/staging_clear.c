/* SPDX-License-Identifier: Apache-2.0 */
/* Removes temporary folders that killed saves to the same place left behind. */
#define _XOPEN_SOURCE 700 /* for O_NOFOLLOW and O_DIRECTORY */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "save/staging.h"

enum { MAX_PID_DIGITS = 9 };

int graft_save_folder_lock(const char *path) {
    struct stat opened, there;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    /* The former holder of the lock may have removed the folder in the meantime. */
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &opened) != 0 || lstat(path, &there) != 0 ||
        opened.st_dev != there.st_dev || opened.st_ino != there.st_ino) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* The process id in a name of the form PREFIX PID-NUMBER; 0 for any other name. */
static pid_t process_of(const char *name, const char *prefix) {
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0) {
        return 0;
    }
    const char *pid = name + length;
    size_t digits = strspn(pid, "0123456789");
    size_t after = pid[digits] == '-' ? strspn(pid + digits + 1, "0123456789") : 0;
    if (digits == 0 || digits > MAX_PID_DIGITS || after == 0 || pid[digits + 1 + after] != '\0') {
        return 0;
    }
    return (pid_t)strtol(pid, NULL, 10);
}

/* Whether a process with this id exists; it may be a different one by now. */
static int is_alive(pid_t pid) {
    return kill(pid, 0) == 0 || errno != ESRCH;
}

/* The process that made the folder may be in another container, where its id means nothing here; if it still runs, it
 * holds the lock. */
static void clear_one(const char *path, struct graft_text *cleared) {
    struct stat status;
    int fd = graft_save_folder_lock(path);
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &status) == 0 && status.st_uid == geteuid()) {
        graft_save_folder_remove(path);
        graft_text_printf(cleared, "%s%s", cleared->length > 0 ? ", " : "", path);
    }
    (void)close(fd);
}

void graft_save_staging_clear(const char *final, struct graft_text *cleared) {
    const char *slash = strrchr(final, '/');
    char *parent = slash == NULL    ? graft_strdup(".")
                   : slash == final ? graft_strdup("/")
                                    : graft_strndup(final, (size_t)(slash - final));
    char *prefix = graft_format("%s.tmp-", slash != NULL ? slash + 1 : final);
    DIR *stream = parent != NULL && prefix != NULL ? opendir(parent) : NULL;
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        pid_t process = process_of(entry->d_name, prefix);
        char *path = process > 0 && !is_alive(process) ? graft_path_join(parent, entry->d_name) : NULL;
        if (path != NULL) {
            clear_one(path, cleared);
        }
        graft_free(path);
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    graft_free(prefix);
    graft_free(parent);
}
