/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_VALIDATE_EXPORTS_H
#define GRAFT_VALIDATE_EXPORTS_H

#include <stddef.h>

#include "graft/error.h"

/* [any] The first symbol that an object exports beside `entry`; "": none. Weak ones, which compilers make of C++
 * templates, and those that the linker makes do not count. */
int graft_exported_beside(const char *file, const char *entry, char *name, size_t size, struct graft_error *error);

#endif
