/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols of a shared object, as they are checked before the dynamic linker opens it: each exported name lies
 * within the file. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "plugin/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_elf elf;
    struct graft_elf_symbol symbol;
    size_t length = 0;
    uint8_t *copy = malloc(size > 0 ? size : 1); /* of the exact size, so that a sanitizer detects reads past the end */
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, bytes, size);
    if (graft_elf_read(copy, size, &elf) != GRAFT_ELF_READ && elf.n_symbols != 0) {
        abort();
    }
    for (uint64_t i = 0; i < elf.n_symbols; i++) {
        length += graft_elf_exported(&elf, i, &symbol) ? strlen(symbol.name) : 0;
    }
    free(copy);
    return length == SIZE_MAX; /* never true: keeps the call of strlen from being optimised away */
}
