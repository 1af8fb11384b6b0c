/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a shared object without the dynamic linker: where its segments end, and what it exports. The bytes are
 * untrusted, and offsets outside of the file are not followed. All functions are [any].
 */
#ifndef GRAFT_PLUGIN_ELF_H
#define GRAFT_PLUGIN_ELF_H

#include <stddef.h>
#include <stdint.h>

enum graft_elf_verdict {
    GRAFT_ELF_READ = 0,
    GRAFT_ELF_OTHER, /* not a shared object for this machine (machine.h), or none at all; the dynamic linker reports it
                      */
    GRAFT_ELF_TRUNCATED, /* the file ends before its segments do */
    GRAFT_ELF_DAMAGED,   /* its dynamic symbols point outside of the file */
};

/* An object's dynamic symbols. The caller owns the bytes. */
struct graft_elf {
    const unsigned char *bytes;
    size_t size;
    uint64_t needed; /* bytes that the file needs for its segments */
    uint64_t symbols;
    uint64_t n_symbols;
    uint64_t strings;
    uint64_t strings_size;
};

struct graft_elf_symbol {
    const char *name; /* terminated inside of the bytes */
    int is_function;
    int is_weak;
};

/* Fills in `elf` as far as the bytes can be read; `needed` is set for a truncated file too. */
enum graft_elf_verdict graft_elf_read(const void *bytes, size_t size, struct graft_elf *elf);

/* Symbol `i` of n_symbols. Returns 0 if the object does not export it or its name is not in the file. */
int graft_elf_exported(const struct graft_elf *elf, uint64_t i, struct graft_elf_symbol *symbol);

#endif
