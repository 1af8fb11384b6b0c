/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/elf.h"

#include <string.h>

#include "plugin/machine.h"

#if UINTPTR_MAX > UINT32_MAX
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
typedef Elf64_Dyn elf_dynamic;
typedef Elf64_Sym elf_symbol;
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
typedef Elf32_Dyn elf_dynamic;
typedef Elf32_Sym elf_symbol;
#endif

/* Addresses from the dynamic section; 0 if one is not given. */
struct tables {
    uint64_t symbols;
    uint64_t strings;
    uint64_t strings_size;
    uint64_t hash;
    uint64_t gnu_hash;
};

static int read_at(const struct graft_elf *elf, uint64_t offset, void *to, size_t size) {
    if (offset > elf->size || elf->size - offset < size) {
        return 0;
    }
    memcpy(to, elf->bytes + offset, size);
    return 1;
}

static int read_word(const struct graft_elf *elf, uint64_t offset, uint32_t *word) {
    return read_at(elf, offset, word, sizeof *word);
}

static int read_header(const struct graft_elf *elf, elf_header *header) {
    return read_at(elf, 0, header, sizeof *header) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == GRAFT_OWN_CLASS && header->e_ident[EI_DATA] == GRAFT_OWN_ORDER &&
           header->e_type == ET_DYN && header->e_phentsize == sizeof(elf_segment);
}

static int read_segment(const struct graft_elf *elf, const elf_header *header, unsigned i, elf_segment *segment) {
    uint64_t before = (uint64_t)i * sizeof *segment;
    return header->e_phoff <= UINT64_MAX - before && read_at(elf, header->e_phoff + before, segment, sizeof *segment);
}

/* The file offset of the byte loaded at `address`, which is inside of the file. */
static int find_offset(const struct graft_elf *elf, const elf_header *header, uint64_t address, uint64_t *offset) {
    for (unsigned i = 0; i < header->e_phnum; i++) {
        elf_segment segment;
        if (read_segment(elf, header, i, &segment) && segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz) {
            *offset = segment.p_offset + (address - segment.p_vaddr);
            return *offset < elf->size;
        }
    }
    return 0;
}

static void read_dynamic(const struct graft_elf *elf, const elf_segment *segment, struct tables *tables) {
    for (uint64_t at = 0; at + sizeof(elf_dynamic) <= segment->p_filesz; at += sizeof(elf_dynamic)) {
        elf_dynamic entry;
        if (segment->p_offset > UINT64_MAX - at || !read_at(elf, segment->p_offset + at, &entry, sizeof entry) ||
            entry.d_tag == DT_NULL) {
            return;
        }
        switch (entry.d_tag) {
        case DT_SYMTAB:
            tables->symbols = entry.d_un.d_ptr;
            break;
        case DT_STRTAB:
            tables->strings = entry.d_un.d_ptr;
            break;
        case DT_STRSZ:
            tables->strings_size = entry.d_un.d_val;
            break;
        case DT_HASH:
            tables->hash = entry.d_un.d_ptr;
            break;
        case DT_GNU_HASH:
            tables->gnu_hash = entry.d_un.d_ptr;
            break;
        default:
            break;
        }
    }
}

/* Counts the symbols by the GNU hash table: the last chain ends where the symbols do. */
static int count_by_gnu_hash(const struct graft_elf *elf, uint64_t table, uint64_t *n) {
    uint32_t n_buckets, first, n_words;
    if (!read_word(elf, table, &n_buckets) || !read_word(elf, table + 4, &first) ||
        !read_word(elf, table + 8, &n_words)) {
        return 0;
    }
    uint64_t buckets = table + 16 + (uint64_t)n_words * sizeof(void *);
    uint64_t chains = buckets + (uint64_t)n_buckets * 4;
    uint32_t last = 0;
    for (uint32_t i = 0; i < n_buckets; i++) {
        uint32_t start;
        if (!read_word(elf, buckets + (uint64_t)i * 4, &start)) {
            return 0;
        }
        last = start > last ? start : last;
    }
    *n = last < first ? 0 : last; /* if all buckets are empty, nothing is exported */
    for (uint32_t hash = 0; last >= first && (hash & 1) == 0;) {
        if (!read_word(elf, chains + (*n - first) * 4, &hash)) {
            return 0;
        }
        (*n)++;
    }
    return 1;
}

static int count_symbols(const struct graft_elf *elf, const elf_header *header, const struct tables *tables,
                         uint64_t *n) {
    uint64_t table;
    uint32_t count;
    *n = 0;
    if (tables->gnu_hash != 0) {
        return find_offset(elf, header, tables->gnu_hash, &table) && count_by_gnu_hash(elf, table, n);
    }
    if (tables->hash == 0) {
        return 1; /* the dynamic linker would find no symbol in it either */
    }
    if (!find_offset(elf, header, tables->hash, &table) || !read_word(elf, table + 4, &count)) {
        return 0;
    }
    *n = count;
    return 1;
}

static int find_symbols(struct graft_elf *elf, const elf_header *header, const struct tables *tables) {
    if (!count_symbols(elf, header, tables, &elf->n_symbols)) {
        return 0;
    }
    return elf->n_symbols == 0 || (find_offset(elf, header, tables->symbols, &elf->symbols) &&
                                   find_offset(elf, header, tables->strings, &elf->strings) &&
                                   elf->n_symbols <= (elf->size - elf->symbols) / sizeof(elf_symbol) &&
                                   (elf->strings_size = tables->strings_size) <= elf->size - elf->strings);
}

enum graft_elf_verdict graft_elf_read(const void *bytes, size_t size, struct graft_elf *elf) {
    struct tables tables = {0};
    elf_header header;
    *elf = (struct graft_elf){.bytes = bytes, .size = size};
    if (!read_header(elf, &header)) {
        return GRAFT_ELF_OTHER;
    }
    for (unsigned i = 0; i < header.e_phnum; i++) {
        elf_segment segment;
        if (!read_segment(elf, &header, i, &segment)) {
            return GRAFT_ELF_OTHER;
        }
        if (segment.p_type == PT_LOAD && segment.p_filesz <= UINT64_MAX - segment.p_offset &&
            segment.p_offset + segment.p_filesz > elf->needed) {
            elf->needed = segment.p_offset + segment.p_filesz;
        }
        if (segment.p_type == PT_DYNAMIC) {
            read_dynamic(elf, &segment, &tables);
        }
    }
    if (elf->needed > size) {
        return GRAFT_ELF_TRUNCATED;
    }
    if (!find_symbols(elf, &header, &tables)) {
        elf->n_symbols = 0;
        return GRAFT_ELF_DAMAGED;
    }
    return GRAFT_ELF_READ;
}

int graft_elf_exported(const struct graft_elf *elf, uint64_t i, struct graft_elf_symbol *symbol) {
    elf_symbol entry;
    if (i >= elf->n_symbols || !read_at(elf, elf->symbols + i * sizeof entry, &entry, sizeof entry) ||
        entry.st_shndx == SHN_UNDEF || entry.st_name >= elf->strings_size) {
        return 0;
    }
    /* binding and type have the same layout in 32 and 64-bit files */
    int binding = ELF64_ST_BIND(entry.st_info), type = ELF64_ST_TYPE(entry.st_info);
    int is_seen =
        ELF64_ST_VISIBILITY(entry.st_other) == STV_DEFAULT || ELF64_ST_VISIBILITY(entry.st_other) == STV_PROTECTED;
    const char *name = (const char *)elf->bytes + elf->strings + entry.st_name;
    if (binding == STB_LOCAL || !is_seen || memchr(name, '\0', (size_t)(elf->strings_size - entry.st_name)) == NULL) {
        return 0;
    }
    *symbol = (struct graft_elf_symbol){
        .name = name, .is_function = type == STT_FUNC || type == STT_GNU_IFUNC, .is_weak = binding == STB_WEAK};
    return 1;
}
