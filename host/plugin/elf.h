/* SPDX-License-Identifier: Apache-2.0 */
/* A look at a shared object before the dynamic linker gets it. */
#ifndef GRAFT_PLUGIN_ELF_H
#define GRAFT_PLUGIN_ELF_H

#include "graft/error.h"

/* [any] Refuses what would hang or kill the process in dlopen: anything but a regular file (a FIFO waits for ever), and
 * an object truncated after its program headers (the dynamic linker maps what is not there and dies of SIGBUS). What
 * the dynamic linker can refuse by itself passes: its words are better. */
int graft_elf_check(const char *file, struct graft_error *error);

#endif
