/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of plugin directories are to be tried. */
#ifndef GRAFT_PLUGIN_SEARCH_H
#define GRAFT_PLUGIN_SEARCH_H

#include <stddef.h>
#include <sys/types.h>

#include "graft/error.h"

struct graft_plugin_file {
    char *name; /* the directory as given, and the path below it */
    dev_t device;
    ino_t inode;
};

/* Starts as {0}. */
struct graft_plugin_files {
    struct graft_plugin_file *items;
    size_t n;
    size_t capacity;
    const char **empty; /* the directories as given in which there was no such file */
    size_t n_empty;
    size_t empty_capacity;
};

/* [any] Appends DIR/NAME.so and DIR/NAME/NAME.so of each directory, and what ends in .family.json instead, those of
 * one directory in the order of strcmp. Whatever has such a name is found, also what is no file (a folder NAME.so, a
 * FIFO, a link that leads nowhere): who opens it says so. Names that start with a dot and everything else are skipped;
 * a file that was found before, under whatever name, is not found again. A directory that cannot be read is an error.
 */
int graft_plugin_files_find(const char *const *directories, int n, struct graft_plugin_files *files,
                            struct graft_error *error);
/* [any] Appends a file of any name, so that it is not found in a directory as well. */
int graft_plugin_files_name(const char *name, struct graft_plugin_files *files, struct graft_error *error);
void graft_plugin_files_free(struct graft_plugin_files *files);

#endif
