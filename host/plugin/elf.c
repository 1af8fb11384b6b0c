/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/elf.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"

#if UINTPTR_MAX > UINT32_MAX
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
enum { OWN_CLASS = ELFCLASS64 };
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
enum { OWN_CLASS = ELFCLASS32 };
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { OWN_ORDER = ELFDATA2LSB };
#else
enum { OWN_ORDER = ELFDATA2MSB };
#endif

static int read_at(int fd, uint64_t offset, void *bytes, size_t size) {
    return pread(fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

static int is_ours(const elf_header *header) {
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == OWN_CLASS &&
           header->e_ident[EI_DATA] == OWN_ORDER && header->e_phentsize == sizeof(elf_segment);
}

/* Where in the file the last mapped byte ends; 0 when that cannot be told. */
static uint64_t mapped_end(int fd) {
    elf_header header;
    uint64_t end = 0;
    if (!read_at(fd, 0, &header, sizeof header) || !is_ours(&header)) {
        return 0;
    }
    for (unsigned i = 0; i < header.e_phnum; i++) {
        elf_segment segment;
        if (!read_at(fd, header.e_phoff + (uint64_t)i * sizeof segment, &segment, sizeof segment)) {
            return 0;
        }
        if (segment.p_type == PT_LOAD && segment.p_filesz <= UINT64_MAX - segment.p_offset &&
            segment.p_offset + segment.p_filesz > end) {
            end = segment.p_offset + segment.p_filesz;
        }
    }
    return end;
}

int graft_elf_check(const char *file, struct graft_error *error) {
    int fd = -1;
    size_t size = 0;
    int status = graft_file_open(file, GRAFT_ERROR_PLUGIN, &fd, &size, error);
    if (status != GRAFT_OK) {
        return status;
    }
    uint64_t end = mapped_end(fd);
    (void)close(fd);
    if (end > size) {
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "is truncated: expected at least %llu bytes, got %zu",
                                 (unsigned long long)end, size);
        graft_error_hint(error, "copy or build it again");
    }
    return status;
}
