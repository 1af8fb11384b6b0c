/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin's object in memory, and the symbols in its file. All functions are [any], and may be called in a signal
 * handler. */
#ifndef GRAFT_VALIDATE_OBJECT_H
#define GRAFT_VALIDATE_OBJECT_H

#include <stddef.h>
#include <stdint.h>

/* The part of an object that an address belongs to. */
enum graft_object_part { GRAFT_OBJECT_NONE, GRAFT_OBJECT_CODE, GRAFT_OBJECT_CONSTANT, GRAFT_OBJECT_VARIABLE };

/* Whether and where the address is in the object of `file`; `*at` becomes the address as counted in the file. */
enum graft_object_part graft_object_part_of(const char *file, const void *address, uint64_t *at);

/* Makes the writable memory of the object of `file` read-only, or writable again. Returns its size in bytes. */
size_t graft_object_protect(const char *file, int protect);

/* Makes the page of an address writable or read-only. */
void graft_object_let(const void *address, int writable);

enum { GRAFT_OBJECT_NAME = 160 };

/* Names what the file at `path` has at an address as counted in the file: a variable or function ("calls",
 * "acme::CALLS") or, without a symbol, the section and the offset in it (".bss + 0x10"). Returns 1 for a symbol. */
int graft_object_name(const char *path, uint64_t at, char name[GRAFT_OBJECT_NAME]);

#endif
