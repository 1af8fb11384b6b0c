/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/exports.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "plugin/elf.h"

int graft_exported_beside(const char *file, const char *entry, char *name, size_t size, struct graft_error *error) {
    enum { MAX_BYTES = 1 << 30 };
    static const char *const linker[] = {"_init", "_fini", "_edata", "_end", "__bss_start"};
    char *bytes = NULL;
    size_t length = 0;
    struct graft_elf elf;
    name[0] = '\0';
    int status = graft_file_read(file, MAX_BYTES, GRAFT_ERROR_PLUGIN, &bytes, &length, error);
    if (status != GRAFT_OK) {
        return status;
    }
    uint64_t n = graft_elf_read(bytes, length, &elf) == GRAFT_ELF_READ ? elf.n_symbols : 0;
    for (uint64_t i = 0; i < n && name[0] == '\0'; i++) {
        struct graft_elf_symbol symbol;
        if (!graft_elf_exported(&elf, i, &symbol) || symbol.is_weak || strcmp(symbol.name, entry) == 0) {
            continue;
        }
        int is_linkers = 0;
        for (size_t k = 0; k < sizeof linker / sizeof linker[0]; k++) {
            is_linkers |= strcmp(symbol.name, linker[k]) == 0;
        }
        if (!is_linkers) {
            (void)snprintf(name, size, "%s", symbol.name);
        }
    }
    graft_free(bytes);
    return GRAFT_OK;
}
