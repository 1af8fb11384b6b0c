/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* S_ISVTX, realpath */

#include "plugin/object_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "plugin/elf.h"
#include "plugin/libc_names.h"
#include "plugin/machine.h"

/* --- Who may write to the file --- */

static int check_folder(const char *file, const char *folder, const struct stat *status, struct graft_error *error) {
    struct stat above;
    if (stat(folder, &above) != 0) {
        return graft_fail_errno(error, GRAFT_ERROR_PLUGIN, file, "its directory cannot be examined", errno);
    }
    int is_safe = (above.st_mode & S_IWOTH) == 0 ||
                  ((above.st_mode & S_ISVTX) != 0 && (status->st_uid == geteuid() || status->st_uid == 0));
    if (is_safe) {
        return GRAFT_OK;
    }
    int code = graft_error_set(error, GRAFT_ERROR_PLUGIN, file,
                               "lies in a directory that everybody may write to, so anyone could have put it there");
    graft_error_hint(error, "move it elsewhere, or take the right to write to %s from others (chmod o-w)", folder);
    return code;
}

/* Checks the folder that holds the file, after resolving links, whose path is the user's own choice. */
static int check_writers(const char *file, const struct stat *status, struct graft_error *error) {
    if ((status->st_mode & S_IWOTH) != 0) {
        int code = graft_error_set(error, GRAFT_ERROR_PLUGIN, file,
                                   "everybody may write to it, so anyone could have changed it");
        graft_error_hint(error, "take that right from others: chmod o-w");
        return code;
    }
    char *real = realpath(file, NULL);
    if (real == NULL) {
        return graft_fail_errno(error, GRAFT_ERROR_PLUGIN, file, "cannot be opened", errno);
    }
    char *slash = strrchr(real, '/');
    slash[slash == real] = '\0';
    int code = check_folder(file, real, status, error);
    free(real); /* the C library's */
    return code;
}

/* --- Exported symbols --- */

static int check_entry(const char *file, const char *entry, const struct graft_elf_symbol *symbol,
                       struct graft_error *error) {
    if (!symbol->is_function) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "%s: expected a function, got data", entry);
    }
    if (symbol->is_weak) {
        int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, file,
                                     "%s: expected a function that is always this one, got a weak symbol", entry);
        graft_error_hint(error, "define it without __attribute__((weak))");
        return status;
    }
    return GRAFT_OK;
}

static int check_exports(const char *file, const char *entry, const struct graft_elf *elf, int *has_entry,
                         struct graft_error *error) {
    int status = GRAFT_OK;
    *has_entry = 0;
    for (uint64_t i = 0; i < elf->n_symbols && status == GRAFT_OK; i++) {
        struct graft_elf_symbol symbol;
        if (!graft_elf_exported(elf, i, &symbol)) {
            continue;
        }
        if (strcmp(symbol.name, entry) == 0) {
            *has_entry = 1;
            status = check_entry(file, entry, &symbol, error);
        } else if (graft_libc_has(symbol.name)) {
            status = graft_error_set(error, GRAFT_ERROR_PLUGIN, file,
                                     "exports \"%s\", a name of the C library, whose place it could take", symbol.name);
            graft_error_hint(error, "make it static, or build with -fvisibility=hidden");
        }
    }
    return status;
}

static int check_bytes(const char *file, const char *entry, const void *bytes, size_t size, int *has_entry,
                       struct graft_error *error) {
    struct graft_elf elf;
    char found[GRAFT_MACHINE_BYTES], own[GRAFT_MACHINE_BYTES];
    int status = GRAFT_OK;
    *has_entry = 1;
    if (graft_machine_differs(bytes, size, found, own)) {
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "is for another machine: expected %s, found %s", own,
                                 found);
        graft_error_hint(error, "build it for this machine");
        return status;
    }
    switch (graft_elf_read(bytes, size, &elf)) {
    case GRAFT_ELF_READ:
        return check_exports(file, entry, &elf, has_entry, error);
    case GRAFT_ELF_TRUNCATED:
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "is truncated: expected at least %llu bytes, got %zu",
                                 (unsigned long long)elf.needed, size);
        graft_error_hint(error, "copy or build it again");
        return status;
    case GRAFT_ELF_DAMAGED:
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, file, "its dynamic symbols lie outside of it");
        graft_error_hint(error, "copy or build it again");
        return status;
    case GRAFT_ELF_OTHER:
    default:
        return GRAFT_OK;
    }
}

int graft_object_file_check(const char *file, const char *entry, int *has_entry, struct graft_error *error) {
    int fd = -1;
    size_t size = 0;
    struct stat about;
    *has_entry = 1;
    int status = graft_file_open(file, GRAFT_ERROR_PLUGIN, &fd, &size, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (fstat(fd, &about) != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_PLUGIN, file, "cannot be examined", errno);
        goto done;
    }
    status = check_writers(file, &about, error);
    if (status == GRAFT_OK && size > 0) {
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED) {
            status = graft_fail_errno(error, GRAFT_ERROR_PLUGIN, file, "cannot be mapped", errno);
            goto done;
        }
        status = check_bytes(file, entry, bytes, size, has_entry, error);
        (void)munmap(bytes, size);
    }

done:
    (void)close(fd);
    return status;
}
