/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The archives of packages: ustar, of which only what a package needs is written and read. An archive that comes from
 * elsewhere is hostile: everything in it that is not a regular file in its one folder is refused.
 */
#ifndef GRAFT_CLI_PACKAGE_USTAR_H
#define GRAFT_CLI_PACKAGE_USTAR_H

#include <stddef.h>

#include "base/text.h"
#include "graft/error.h"

/* Limits on archives that are read. */
enum { USTAR_MAX_FILES = 64, USTAR_MAX_BYTES = 256 << 20, USTAR_MAX_NAME = 100 };

/* A file of an archive. */
struct ustar_file {
    char folder[USTAR_MAX_NAME]; /* "acme_mlp" */
    char name[USTAR_MAX_NAME];   /* "acme_mlp.so" */
    const char *bytes;           /* [length] in the archive */
    size_t length;
};

/* [any] Adds a file as FOLDER/NAME. Nothing in it depends on time, place or user. */
void ustar_add(struct graft_text *archive, const char *folder, const char *name, const char *bytes, size_t length);

/* [any] Adds the end of the archive. */
void ustar_end(struct graft_text *archive);

/* [any] Reads the files of an archive into `files` [USTAR_MAX_FILES], which point into it. Refused (GRAFT_ERROR_MODEL):
 * links, devices and folders, extensions of the format, names that lead elsewhere (more than one folder, "..", hidden
 * ones, characters other than letters, digits, '.', '_', '+' and '-'), two files of one name, files in several folders,
 * wrong checksums, and anything past the end. `source` names the archive in errors. */
int ustar_read(const char *archive, size_t length, const char *source, struct ustar_file *files, size_t *n,
               struct graft_error *error);

/* [any] Whether a text can be the name of a file or folder in an archive. */
int ustar_is_name(const char *text);

#endif
