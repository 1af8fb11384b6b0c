/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of plugin directories. */
#ifndef GRAFT_PLUGIN_SEARCH_H
#define GRAFT_PLUGIN_SEARCH_H

#include <stddef.h>
#include <sys/types.h>

#include "graft/error.h"

struct graft_plugin_file {
    char *name; /* the directory as given and the path below it */
    dev_t device;
    ino_t inode;
};

/* Starts as {0}. */
struct graft_plugin_files {
    struct graft_plugin_file *items;
    size_t n;
    size_t capacity;
    const char **empty; /* the directories, as given, without any such file */
    size_t n_empty;
    size_t empty_capacity;
};

/* [any] Appends DIR/NAME.so and DIR/NAME/NAME.so of each directory, and the same with .family.json instead of .so,
 * sorted by strcmp within a directory. Anything with such a name is found, even if it is not a file (a folder NAME.so,
 * a FIFO, a dangling link); opening it reports that. Other names and names that start with a dot are skipped. A file
 * that was found before, under any name, is not found again. A directory that cannot be read is an error. */
int graft_plugin_files_find(const char *const *directories, int n, struct graft_plugin_files *files,
                            struct graft_error *error);
/* [any] Appends a file of any name, which is then not found in a directory again. */
int graft_plugin_files_name(const char *name, struct graft_plugin_files *files, struct graft_error *error);
void graft_plugin_files_free(struct graft_plugin_files *files);

#endif
