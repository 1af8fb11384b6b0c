/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_PLUGIN_LIBC_NAMES_H
#define GRAFT_PLUGIN_LIBC_NAMES_H

/* [any] Whether the C library of this process exports `name` itself. */
int graft_libc_has(const char *name);

#endif
