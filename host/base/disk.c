/* SPDX-License-Identifier: Apache-2.0 */
#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linux takes no more in one call; smaller steps also let a signal in between. */
enum { LARGEST_STEP = 1 << 30 };

static atomic_long countdown;
static atomic_int failure;
static atomic_size_t limit;

/* The errno with which a test wants this step to fail; else 0. */
static int must_fail(void) {
    int fails = atomic_load_explicit(&countdown, memory_order_relaxed) > 0 && atomic_fetch_sub(&countdown, 1) == 1;
    return fails ? atomic_load(&failure) : 0;
}

long graft_disk_fail_at(long n, int number) {
    atomic_store(&failure, number);
    return atomic_exchange(&countdown, n);
}

void graft_disk_limit_step(size_t bytes) {
    atomic_store(&limit, bytes);
}

int graft_disk_create(const char *path, int *fd) {
    int failing = must_fail();
    if (failing != 0) {
        return failing;
    }
    *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *fd >= 0 ? 0 : errno;
}

int graft_disk_write(int fd, const void *bytes, size_t size) {
    int failing = must_fail();
    size_t largest = atomic_load_explicit(&limit, memory_order_relaxed);
    const char *at = bytes;
    size_t left = failing != 0 ? size / 2 : size;
    largest = largest > 0 ? largest : LARGEST_STEP;
    while (left > 0) {
        ssize_t put = write(fd, at, left < largest ? left : largest);
        if (put < 0 && errno != EINTR) {
            return errno;
        }
        at += put > 0 ? put : 0;
        left -= put > 0 ? (size_t)put : 0;
    }
    return failing;
}

/* The advice means that the bytes will not be read again, which makes Linux start to write them. */
void graft_disk_begin(int fd, int64_t offset, int64_t size) {
    (void)posix_fadvise(fd, (off_t)offset, (off_t)size, POSIX_FADV_DONTNEED);
}

int graft_disk_finish(int fd) {
    int number = must_fail();
    if (number == 0 && fsync(fd) != 0) {
        number = errno;
    }
    if (close(fd) != 0 && number == 0) {
        number = errno;
    }
    return number;
}

int graft_disk_make_folder(const char *path) {
    int failing = must_fail();
    if (failing != 0) {
        return failing;
    }
    return mkdir(path, 0777) == 0 ? 0 : errno;
}

int graft_disk_rename(const char *from, const char *to) {
    int failing = must_fail();
    if (failing != 0) {
        return failing;
    }
    return rename(from, to) == 0 ? 0 : errno;
}

int graft_disk_sync_folder(const char *path) {
    int failing = must_fail();
    if (failing != 0) {
        return failing;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int number = fsync(fd) == 0 ? 0 : errno;
    (void)close(fd);
    return number;
}
