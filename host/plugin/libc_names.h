/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_PLUGIN_LIBC_NAMES_H
#define GRAFT_PLUGIN_LIBC_NAMES_H

/* [any] Whether this process's C library exports `name`. */
int graft_libc_has(const char *name);

#endif
