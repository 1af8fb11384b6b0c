/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dl_iterate_phdr */

#include "validate/object.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct search {
    struct stat file;
    const void *address;         /* the address to find; or NULL */
    enum graft_object_part part; /* found */
    uint64_t at;                 /* likewise */
    int protection;              /* of writable memory, if `address` is NULL */
    size_t protected_bytes;
};

static uintptr_t page_of(uintptr_t address) {
    return address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static int is_in(const ElfW(Phdr) * segment, uint64_t at) {
    return at >= segment->p_vaddr && at - segment->p_vaddr < segment->p_memsz;
}

/* The part that the dynamic linker made read-only after relocation (RELRO). */
static const ElfW(Phdr) * find_relocated(const struct dl_phdr_info *info) {
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
            return &info->dlpi_phdr[i];
        }
    }
    return NULL;
}

static void find_part(const struct dl_phdr_info *info, struct search *search) {
    const ElfW(Phdr) *relocated = find_relocated(info);
    const uint64_t at = (uintptr_t)search->address - info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && is_in(segment, at)) {
            const int is_variable = (segment->p_flags & PF_W) != 0 && (relocated == NULL || !is_in(relocated, at));
            search->part = is_variable                      ? GRAFT_OBJECT_VARIABLE
                           : (segment->p_flags & PF_X) != 0 ? GRAFT_OBJECT_CODE
                                                            : GRAFT_OBJECT_CONSTANT;
            search->at = at;
        }
    }
}

static void protect(const struct dl_phdr_info *info, struct search *search) {
    const ElfW(Phdr) *relocated = find_relocated(info);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) == 0) {
            continue;
        }
        uintptr_t begin = page_of(info->dlpi_addr + segment->p_vaddr);
        const uintptr_t end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        if (relocated != NULL && is_in(segment, relocated->p_vaddr)) {
            begin = page_of(info->dlpi_addr + relocated->p_vaddr + relocated->p_memsz);
        }
        if (begin < end && mprotect((void *)begin, end - begin, search->protection) == 0) {
            search->protected_bytes += end - begin;
        }
    }
}

static int look(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *search = data;
    struct stat found;
    (void)size;
    if (stat(info->dlpi_name, &found) != 0 || found.st_dev != search->file.st_dev ||
        found.st_ino != search->file.st_ino) {
        return 0;
    }
    (search->address != NULL ? find_part : protect)(info, search);
    return 1;
}

static void find(const char *file, struct search *search) {
    if (stat(file, &search->file) == 0) {
        (void)dl_iterate_phdr(look, search);
    }
}

enum graft_object_part graft_object_part_of(const char *file, const void *address, uint64_t *at) {
    struct search search = {.address = address};
    if (address != NULL) {
        find(file, &search);
    }
    *at = search.at;
    return search.part;
}

size_t graft_object_protect(const char *file, int protect_it) {
    struct search search = {.protection = protect_it ? PROT_READ : PROT_READ | PROT_WRITE};
    find(file, &search);
    return search.protected_bytes;
}

void graft_object_let(const void *address, int writable) {
    (void)mprotect((void *)page_of((uintptr_t)address), (size_t)sysconf(_SC_PAGESIZE),
                   writable ? PROT_READ | PROT_WRITE : PROT_READ);
}
