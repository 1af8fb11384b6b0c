/* SPDX-License-Identifier: Apache-2.0 */
/* Tells from an object file's first bytes for which machine it was built. All functions are [any]. */
#ifndef GRAFT_PLUGIN_MACHINE_H
#define GRAFT_PLUGIN_MACHINE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* e_ident[EI_CLASS] and e_ident[EI_DATA] of this program's objects. */
#if UINTPTR_MAX > UINT32_MAX
enum { GRAFT_OWN_CLASS = ELFCLASS64 };
#else
enum { GRAFT_OWN_CLASS = ELFCLASS32 };
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { GRAFT_OWN_ORDER = ELFDATA2LSB };
#else
enum { GRAFT_OWN_ORDER = ELFDATA2MSB };
#endif

/* The size of a description, such as "AArch64 (64 bits)" or "Windows (PE)". */
enum { GRAFT_MACHINE_BYTES = 64 };

/* Whether the file is an object for another processor or operating system: returns 1, and `found` and `own` describe
 * the two. Returns 0 for an object for this machine, for any other file, and if this program's own processor is
 * unknown. */
int graft_machine_differs(const void *bytes, size_t size, char found[GRAFT_MACHINE_BYTES],
                          char own[GRAFT_MACHINE_BYTES]);

#endif
