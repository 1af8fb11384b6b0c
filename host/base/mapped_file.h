/* SPDX-License-Identifier: Apache-2.0 */
/* Which mapped file an address lies in, for a process that ends by it. */
#ifndef GRAFT_BASE_MAPPED_FILE_H
#define GRAFT_BASE_MAPPED_FILE_H

#include <stddef.h>

/* [any, also in a signal handler] Writes the path of the file that is mapped at the address, cut to `size` bytes with a
 * NUL. Returns 0 where none is. */
int graft_mapped_file(const void *address, char *path, size_t size);

#endif
