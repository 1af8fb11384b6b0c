/* SPDX-License-Identifier: Apache-2.0 */
/* For which machine an object file was built, as far as its first bytes tell. All functions are [any]. */
#ifndef GRAFT_PLUGIN_MACHINE_H
#define GRAFT_PLUGIN_MACHINE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* How addresses and numbers of this program's objects are written: e_ident[EI_CLASS] and e_ident[EI_DATA]. */
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

/* Room for a description, such as "AArch64 (64 bits)" or "Windows (PE)". */
enum { GRAFT_MACHINE_BYTES = 64 };

/* Whether the file is an object for another processor or another operating system than this program's. Then 1, and
 * `found` and `own` describe both. 0 for one that is for this machine, for what is no object file at all, and where
 * this program does not know its own processor. */
int graft_machine_differs(const void *bytes, size_t size, char found[GRAFT_MACHINE_BYTES],
                          char own[GRAFT_MACHINE_BYTES]);

#endif
