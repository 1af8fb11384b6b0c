/* SPDX-License-Identifier: Apache-2.0 */
/* Reads symbols from the file, since the loader keeps only the exported ones. */
#define _GNU_SOURCE /* link.h */

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "validate/object.h"

struct file {
    const char *bytes;
    size_t size;
};

/* Returns `count` elements of `size` bytes at an offset; NULL if they are outside of the file or misaligned. */
static const void *in_file(const struct file *file, uint64_t offset, uint64_t count, size_t size) {
    const int fits = offset <= file->size && offset % sizeof(ElfW(Addr)) == 0 && count <= (file->size - offset) / size;
    return fits ? file->bytes + offset : NULL;
}

static const ElfW(Shdr) * sections_of(const struct file *file, size_t *n) {
    const ElfW(Ehdr) *header = in_file(file, 0, 1, sizeof *header);
    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(ElfW(Shdr))) {
        return NULL;
    }
    *n = header->e_shnum;
    return in_file(file, header->e_shoff, *n, sizeof(ElfW(Shdr)));
}

/* A string of a string section; "" if there is none. */
static const char *string_at(const struct file *file, const ElfW(Shdr) * strings, uint64_t offset) {
    if (strings->sh_offset > file->size || strings->sh_size > file->size - strings->sh_offset ||
        offset >= strings->sh_size) {
        return "";
    }
    const char *text = file->bytes + strings->sh_offset + offset;
    return memchr(text, '\0', strings->sh_size - offset) != NULL ? text : "";
}

/* Returns the position after a disambiguator in a Rust symbol, which is "s" and digits up to "_"; `at` if there is
 * none. */
static const char *skip_disambiguator(const char *at) {
    const char *end = *at == 's' ? strchr(at, '_') : NULL;
    return end != NULL ? end + 1 : at;
}

/* Adds identifiers with their lengths in front, "4acme5CALLS": "acme::CALLS". The last one of C++ and of earlier Rust
 * may be a hash, "17h0123456789abcdef". */
static void spell_parts(const char *at, char name[GRAFT_OBJECT_NAME]) {
    size_t length = 0;
    name[0] = '\0';
    while (*at >= '1' && *at <= '9') {
        size_t part = 0;
        for (; *at >= '0' && *at <= '9' && part < GRAFT_OBJECT_NAME; at++) {
            part = part * 10 + (size_t)(*at - '0');
        }
        at += *at == '_'; /* in front of a name that begins with a digit or with this */
        const int is_hash = part == 17 && at[0] == 'h';
        if (strlen(at) < part || is_hash || length + part + 3 > GRAFT_OBJECT_NAME) {
            return;
        }
        length += (size_t)snprintf(name + length, GRAFT_OBJECT_NAME - length, "%s%.*s", length > 0 ? "::" : "",
                                   (int)part, at);
        at = skip_disambiguator(at + part);
    }
}

/* Demangles a name. Symbols of C++ and older Rust look like "_ZN4acme5CALLS17h0123456789abcdefE", those of newer Rust
 * like "_RNvCs1234_4acme5CALLS". In other names, only the number that compilers append to static variables of functions
 * is removed: "calls.0". */
static void spell(const char *symbol, char name[GRAFT_OBJECT_NAME]) {
    const char *dot = strchr(symbol, '.');
    const int is_numbered = dot != NULL && dot > symbol && dot[1 + strspn(dot + 1, "0123456789")] == '\0';
    if (strncmp(symbol, "_ZN", 3) == 0) {
        spell_parts(symbol + 3, name);
    } else if (strncmp(symbol, "_RNv", 4) == 0) {
        spell_parts(skip_disambiguator(symbol + 2 + strspn(symbol + 2, "NCvt")), name);
    } else {
        (void)snprintf(name, GRAFT_OBJECT_NAME, "%.*s", (int)(is_numbered ? (size_t)(dot - symbol) : strlen(symbol)),
                       symbol);
    }
}

static int find_symbol(const struct file *file, const ElfW(Shdr) * sections, size_t n, uint64_t at,
                       char name[GRAFT_OBJECT_NAME]) {
    for (size_t i = 0; i < n; i++) {
        const ElfW(Shdr) *table = &sections[i];
        const ElfW(Sym) *symbols = in_file(file, table->sh_offset, table->sh_size / sizeof *symbols, sizeof *symbols);
        if ((table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) || symbols == NULL || table->sh_link >= n) {
            continue;
        }
        for (size_t k = 0; k < table->sh_size / sizeof *symbols; k++) {
            const unsigned type = symbols[k].st_info & 0xF;
            if ((type == STT_OBJECT || type == STT_FUNC) && symbols[k].st_shndx != SHN_UNDEF &&
                at >= symbols[k].st_value && at - symbols[k].st_value < symbols[k].st_size) {
                spell(string_at(file, &sections[table->sh_link], symbols[k].st_name), name);
                return name[0] != '\0';
            }
        }
    }
    return 0;
}

static void name_section(const struct file *file, const ElfW(Shdr) * sections, size_t n, uint64_t at,
                         char name[GRAFT_OBJECT_NAME]) {
    const ElfW(Ehdr) *header = (const void *)file->bytes;
    for (size_t i = 0; i < n; i++) {
        if ((sections[i].sh_flags & SHF_ALLOC) != 0 && (sections[i].sh_flags & SHF_TLS) == 0 &&
            at >= sections[i].sh_addr && at - sections[i].sh_addr < sections[i].sh_size && header->e_shstrndx < n) {
            (void)snprintf(name, GRAFT_OBJECT_NAME, "%.32s + 0x%llx",
                           string_at(file, &sections[header->e_shstrndx], sections[i].sh_name),
                           (unsigned long long)(at - sections[i].sh_addr));
            return;
        }
    }
    (void)snprintf(name, GRAFT_OBJECT_NAME, "offset 0x%llx", (unsigned long long)at);
}

int graft_object_name(const char *path, uint64_t at, char name[GRAFT_OBJECT_NAME]) {
    struct stat info;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC), found = 0;
    (void)snprintf(name, GRAFT_OBJECT_NAME, "offset 0x%llx", (unsigned long long)at);
    if (descriptor >= 0 && fstat(descriptor, &info) == 0 && info.st_size > 0) {
        struct file file = {mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0),
                            (size_t)info.st_size};
        if (file.bytes != MAP_FAILED) {
            size_t n = 0;
            const ElfW(Shdr) *sections = sections_of(&file, &n);
            if (sections != NULL) {
                found = find_symbol(&file, sections, n, at, name);
            }
            if (sections != NULL && !found) {
                name_section(&file, sections, n, at, name);
            }
            (void)munmap((void *)(uintptr_t)file.bytes, file.size);
        }
    }
    if (descriptor >= 0) {
        (void)close(descriptor);
    }
    return found;
}
