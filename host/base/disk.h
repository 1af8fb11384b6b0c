/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place where the host writes to a disk, so that a test can make each step fail in turn. All functions are
 * [any] and return 0 or an errno.
 */
#ifndef GRAFT_BASE_DISK_H
#define GRAFT_BASE_DISK_H

#include <stddef.h>
#include <stdint.h>

/* Creates a file that does not exist yet, with the permissions that the umask allows. */
int graft_disk_create(const char *path, int *fd);

/* Writes all `size` bytes. */
int graft_disk_write(int fd, const void *bytes, size_t size);

/* Starts writing bytes [offset, offset + size) to the disk, so that graft_disk_finish waits less. Only advice: it never
 * fails. */
void graft_disk_begin(int fd, int64_t offset, int64_t size);

/* Syncs the file to the disk and closes it. The descriptor is closed even on failure. */
int graft_disk_finish(int fd);

int graft_disk_make_folder(const char *path);

/* Renames a file or folder. A file at `to` is replaced; so is an empty folder if `from` is a folder. */
int graft_disk_rename(const char *from, const char *to);

/* Syncs the names in a folder, so that they survive a loss of power where the file system supports that. */
int graft_disk_sync_folder(const char *path);

/* [test] Makes the n-th step from now on fail (1 is the next) with the errno `number`; a write stores half of its bytes
 * first. 0 turns this off. Returns what was left of the countdown set before, 0 if it has fired. */
long graft_disk_fail_at(long n, int number);

/* [test] Limits each write call to `bytes`; 0: no limit. */
void graft_disk_limit_step(size_t bytes);

#endif
