/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a shared object, read without the dynamic linker: where its segments end, and what it exports. Nothing
 * in them is believed; what leads out of the file is not followed. All functions are [any].
 */
#ifndef GRAFT_PLUGIN_ELF_H
#define GRAFT_PLUGIN_ELF_H

#include <stddef.h>
#include <stdint.h>

enum graft_elf_verdict {
    GRAFT_ELF_READ = 0,
    GRAFT_ELF_OTHER,     /* no shared object for this machine (machine.h), or none at all, as the dynamic linker says */
    GRAFT_ELF_TRUNCATED, /* the file ends before its segments do */
    GRAFT_ELF_DAMAGED,   /* its dynamic symbols lead out of the file */
};

/* An object's dynamic symbols. The bytes are the caller's. */
struct graft_elf {
    const unsigned char *bytes;
    size_t size;
    uint64_t needed; /* bytes that the file must have for its segments */
    uint64_t symbols;
    uint64_t n_symbols;
    uint64_t strings;
    uint64_t strings_size;
};

struct graft_elf_symbol {
    const char *name; /* ends within the bytes */
    int is_function;
    int is_weak;
};

/* `elf` is filled in as far as its bytes can be read, `needed` also for a truncated one. */
enum graft_elf_verdict graft_elf_read(const void *bytes, size_t size, struct graft_elf *elf);

/* Symbol `i` of n_symbols. Returns 0 when the object does not export it, or it has no name in the file. */
int graft_elf_exported(const struct graft_elf *elf, uint64_t i, struct graft_elf_symbol *symbol);

#endif
