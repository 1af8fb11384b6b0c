/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the files found may be opened: who loads them can say so by what is in them. */
#ifndef GRAFT_PLUGIN_CHOOSE_H
#define GRAFT_PLUGIN_CHOOSE_H

#include "graft/host/library.h"
#include "plugin/search.h"

/* Starts as {0}; names belong to the files found. */
struct graft_chosen_files {
    const char **names; /* [n] */
    size_t n;
    const char **left_out; /* [n_left_out] */
    size_t n_left_out;
};

/* [load] Asks about each file that is a plugin by the look of it; `on_file` NULL: all are chosen. Also on failure the
 * caller frees `chosen`. */
int graft_plugin_files_choose(const struct graft_plugin_files *files, graft_plugin_file_function on_file, void *data,
                              struct graft_chosen_files *chosen, struct graft_error *error);
void graft_chosen_files_free(struct graft_chosen_files *chosen);

#endif
