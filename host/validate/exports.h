/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_VALIDATE_EXPORTS_H
#define GRAFT_VALIDATE_EXPORTS_H

#include <stddef.h>

#include "graft/error.h"

/* [any] Finds the first symbol that an object exports besides `entry`; "" if there is none. Weak symbols, which
 * compilers emit for C++ templates, and the linker's own are ignored. */
int graft_exported_beside(const char *file, const char *entry, char *name, size_t size, struct graft_error *error);

#endif
