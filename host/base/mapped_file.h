/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the mapped file that an address belongs to, for reporting a crash. */
#ifndef GRAFT_BASE_MAPPED_FILE_H
#define GRAFT_BASE_MAPPED_FILE_H

#include <stddef.h>

/* [any, also in a signal handler] Writes the path of the file mapped at the address, truncated to `size` bytes
 * including a NUL. Returns 0 if no file is mapped there. */
int graft_mapped_file(const void *address, char *path, size_t size);

#endif
