/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place where the host changes what is on a disk, so that a test can make each step fail in turn. All functions
 * are [any] and return 0, or an errno.
 */
#ifndef GRAFT_BASE_DISK_H
#define GRAFT_BASE_DISK_H

#include <stddef.h>
#include <stdint.h>

/* Creates a file that is not there yet, with the permissions that the umask gives to any new file. */
int graft_disk_create(const char *path, int *fd);

/* Writes all of it. */
int graft_disk_write(int fd, const void *bytes, size_t size);

/* Lets the disk begin with bytes [offset, offset + size), so that finishing has less to wait for. A hint: never fails.
 */
void graft_disk_begin(int fd, int64_t offset, int64_t size);

/* Brings what was written to the disk, and closes. The descriptor is closed in any case. */
int graft_disk_finish(int fd);

int graft_disk_make_folder(const char *path);

/* Renames a file or folder; what is at `to` is replaced, if it is a file, or an empty folder and so is `from`. */
int graft_disk_rename(const char *from, const char *to);

/* Makes the names in a folder survive a loss of power, where the file system can do so. */
int graft_disk_sync_folder(const char *path);

/* [test] Makes the n-th step from now on fail (1 is the next) with `number`, an errno: a write stores half of its bytes
 * first. 0 turns it off. Returns how far the countdown set before was from firing, 0 when it has fired. */
long graft_disk_fail_at(long n, int number);

/* [test] Makes one call of the system store no more than `bytes`; 0 for as much as there is. */
void graft_disk_limit_step(size_t bytes);

#endif
