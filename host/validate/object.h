/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin's object as it lies in memory, and the names in its file. All functions are [any, also in a signal
 * handler]. */
#ifndef GRAFT_VALIDATE_OBJECT_H
#define GRAFT_VALIDATE_OBJECT_H

#include <stddef.h>
#include <stdint.h>

/* What of an object an address belongs to. */
enum graft_object_part { GRAFT_OBJECT_NONE, GRAFT_OBJECT_CODE, GRAFT_OBJECT_CONSTANT, GRAFT_OBJECT_VARIABLE };

/* Where the object of `file` has the address; `*at` becomes the address in the file's own count. */
enum graft_object_part graft_object_part_of(const char *file, const void *address, uint64_t *at);

/* Makes the writable memory of the object of `file` read-only, or writable again. Returns how many bytes that were. */
size_t graft_object_protect(const char *file, int protect);

/* Makes the page of one address writable, or read-only. */
void graft_object_let(const void *address, int writable);

enum { GRAFT_OBJECT_NAME = 160 };

/* What the file at `path` says is at an address of its own count: a variable or a function ("calls", "acme::CALLS"), or
 * where none has a name its section and how far inside of it (".bss + 0x10"). Returns 1 if it is the name of something.
 */
int graft_object_name(const char *path, uint64_t at, char name[GRAFT_OBJECT_NAME]);

#endif
