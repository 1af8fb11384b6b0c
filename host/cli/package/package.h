/* SPDX-License-Identifier: Apache-2.0 */
/* Packages of plugins, and the folder where they are installed: FOLDER/ID/ID.so, or FOLDER/ID/ID.family.json, next to
 * FOLDER/ID/manifest.json. */
#ifndef GRAFT_CLI_PACKAGE_PACKAGE_H
#define GRAFT_CLI_PACKAGE_PACKAGE_H

#include <stddef.h>

#include "cli/options.h"
#include "graft/error.h"

/* A file that goes into a package. */
struct package_file {
    char name[128];
    char *bytes; /* [length]; who made it frees it */
    size_t length;
};

/* The folder that options name with --plugins-dir or, without, that of the user, which is made if `make` is set. The
 * caller frees it. */
int package_folder(const struct graft_options *options, int make, char **folder, struct graft_error *error);

/* Writes the files to a new folder. Those that were written before one failed stay. */
int package_write_folder(const char *folder, const struct package_file *files, size_t n, struct graft_error *error);

/* Removes a folder and the files in it, as far as that can be done. */
void package_remove_folder(const char *folder);

/* Replaces the folder `to`, which may exist, by `from` in one step: others see either of them, never a mixture. The old
 * folder is then called `from`. */
int package_exchange(const char *from, const char *to, struct graft_error *error);

/* Checks the plugins next to a manifest in `n` directories: each has to have the SHA-256 that it was installed with
 * (GRAFT_ERROR_PLUGIN). With `only` (a list "ID,ID", or NULL) those alone. */
int package_check_pins(const char *const *directories, size_t n, const char *only, struct graft_error *error);

/* [any] Whether a file's name is that of a plugin: NAME.so or NAME.family.json. */
int package_is_plugin(const char *name);

#endif
