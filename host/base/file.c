/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/disk.h"
#include "base/fail.h"

/* Linux takes no more in one call; smaller steps also let a signal in between. */
static const size_t largest_step = (size_t)1 << 30;

static const char *kind_name(mode_t mode) {
    if (S_ISDIR(mode)) {
        return "a directory";
    }
    if (S_ISFIFO(mode)) {
        return "a FIFO";
    }
    return S_ISSOCK(mode) ? "a socket" : "a device";
}

/* Sets the error of a file that cannot be opened; a dangling link is named as such, as it looks like a file in a
 * listing. */
static int fail_opening(const char *path, int code, int number, struct graft_error *error) {
    struct stat status;
    if (number == ENOENT && lstat(path, &status) == 0 && S_ISLNK(status.st_mode)) {
        return graft_error_set(error, code, path, "expected a regular file, found a link that leads nowhere");
    }
    return graft_fail_errno(error, code, path, "cannot be opened", number);
}

int graft_file_open(const char *path, int code, int *fd, size_t *size, struct graft_error *error) {
    struct stat status;
    /* O_NONBLOCK: opening a FIFO without a writer would block forever. */
    int opened = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (opened < 0) {
        return fail_opening(path, code, errno, error);
    }
    if (fstat(opened, &status) != 0) {
        code = graft_fail_errno(error, code, path, "cannot be examined", errno);
        goto fail;
    }
    if (!S_ISREG(status.st_mode)) {
        code = graft_error_set(error, code, path, "expected a regular file, found %s", kind_name(status.st_mode));
        goto fail;
    }
    if ((uintmax_t)status.st_size > SIZE_MAX) {
        code = graft_error_set(error, code, path, "is larger than the address space");
        goto fail;
    }
    *fd = opened;
    *size = (size_t)status.st_size;
    return GRAFT_OK;

fail:
    (void)close(opened);
    return code;
}

int graft_file_read_bytes(int fd, void *to, size_t size, size_t *length) {
    char *bytes = to;
    *length = 0;
    while (*length < size) {
        size_t step = size - *length < largest_step ? size - *length : largest_step;
        ssize_t got = read(fd, bytes + *length, step);
        if (got < 0 && errno != EINTR) {
            return errno;
        }
        if (got == 0) {
            break;
        }
        *length += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

int graft_file_read(const char *path, size_t max_bytes, int code, char **text, size_t *length,
                    struct graft_error *error) {
    int fd = -1;
    size_t size = 0;
    int status = graft_file_open(path, code, &fd, &size, error);
    if (status != GRAFT_OK) {
        return status;
    }
    char *bytes = NULL;
    if (size > max_bytes) {
        status = graft_error_set(error, code, path, "has %zu bytes, expected at most %zu", size, max_bytes);
        goto done;
    }
    bytes = size < SIZE_MAX ? graft_realloc(NULL, size + 1, 1) : NULL;
    if (bytes == NULL) {
        status = graft_fail_memory(error, path);
        goto done;
    }
    int number = graft_file_read_bytes(fd, bytes, size, length);
    if (number != 0) {
        status = graft_fail_errno(error, code, path, "cannot be read", number);
        goto done;
    }
    bytes[*length] = '\0';
    *text = bytes;
    bytes = NULL;

done:
    graft_free(bytes);
    (void)close(fd);
    return status;
}

int graft_file_exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

/* Returns 0 or an errno. */
static int write_pieces(int fd, const struct graft_file_piece *pieces, size_t n) {
    int number = 0;
    for (size_t i = 0; i < n && number == 0; i++) {
        number = graft_disk_write(fd, pieces[i].data, pieces[i].bytes);
    }
    return number;
}

/* Writes the pieces, syncs and closes `fd`, which is closed even on failure. Returns 0 or an errno. */
static int write_synced(int fd, const struct graft_file_piece *pieces, size_t n) {
    const int number = write_pieces(fd, pieces, n);
    if (number != 0) {
        (void)close(fd);
        return number;
    }
    return graft_disk_finish(fd);
}

/* Creates a new file next to `path`; the caller frees `*name`. Returns 0 or an errno. */
static int create_beside(const char *path, char **name, int *fd) {
    static atomic_uint counter;
    for (;;) {
        *name = graft_format("%s.tmp-%ld-%u", path, (long)getpid(), atomic_fetch_add(&counter, 1));
        int number = *name != NULL ? graft_disk_create(*name, fd) : ENOMEM;
        if (number != EEXIST) {
            return number;
        }
        graft_free(*name);
    }
}

/* Syncs the folder of a file. The new content is in place already, so a failure is ignored. */
static void sync_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? graft_strdup(".") : graft_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (folder != NULL) {
        (void)graft_disk_sync_folder(folder);
    }
    graft_free(folder);
}

int graft_file_write(const char *path, const struct graft_file_piece *pieces, size_t n, struct graft_error *error) {
    struct stat old;
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode)) {
        /* a rename would replace /dev/null by a file */
        return graft_error_set(error, GRAFT_ERROR_IO, path, "expected a regular file or no file, found %s",
                               kind_name(old.st_mode));
    }
    char *name = NULL;
    int fd = -1;
    int number = create_beside(path, &name, &fd);
    if (number != 0) {
        graft_free(name);
        return number == ENOMEM ? graft_fail_memory(error, path)
                                : graft_fail_errno(error, GRAFT_ERROR_IO, path, "cannot be created", number);
    }
    int status = GRAFT_OK;
    number = write_synced(fd, pieces, n);
    if (number != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, path, "cannot be written", number);
    } else if ((number = graft_disk_rename(name, path)) != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, path, "cannot be renamed into place", number);
    }
    if (status != GRAFT_OK) {
        (void)unlink(name);
    } else {
        sync_folder_of(path);
    }
    graft_free(name);
    return status;
}

int graft_file_write_temporary(const char *path, const struct graft_file_piece *pieces, size_t n,
                               struct graft_error *error) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    int number = fd >= 0 ? write_pieces(fd, pieces, n) : errno;
    if (fd >= 0 && close(fd) != 0 && number == 0) {
        number = errno;
    }
    return number == 0 ? GRAFT_OK : graft_fail_errno(error, GRAFT_ERROR_IO, path, "cannot be written", number);
}

const char *graft_path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

char *graft_path_join(const char *folder, const char *name) {
    size_t length = strlen(folder);
    const char *separator = length == 0 || folder[length - 1] == '/' ? "" : "/";
    return graft_format("%s%s%s", folder, separator, name);
}
