/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses which of the files found are opened; the program can decide by their content. */
#ifndef GRAFT_PLUGIN_CHOOSE_H
#define GRAFT_PLUGIN_CHOOSE_H

#include "graft/host/library.h"
#include "plugin/search.h"

/* Starts as {0}. Names belong to the files found. */
struct graft_chosen_files {
    const char **names; /* [n] */
    size_t n;
    const char **left_out; /* [n_left_out] */
    size_t n_left_out;
};

/* [load] Asks `on_file` about each file that looks like a plugin; NULL: all are chosen. The caller frees `chosen`, even
 * on failure. */
int graft_plugin_files_choose(const struct graft_plugin_files *files, graft_plugin_file_function on_file, void *data,
                              struct graft_chosen_files *chosen, struct graft_error *error);
void graft_chosen_files_free(struct graft_chosen_files *chosen);

#endif
