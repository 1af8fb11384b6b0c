/* SPDX-License-Identifier: Apache-2.0 */
/* What a plugin has to leave as it was. All functions are [any]. */
#ifndef GRAFT_PLUGIN_PROCESS_STATE_H
#define GRAFT_PLUGIN_PROCESS_STATE_H

#include <sys/resource.h>
#include <sys/stat.h>

/* Standard input, output and error, and one more: a plugin that closes what it did not open may start at 3. */
enum { GRAFT_PROCESS_FILES = 4, GRAFT_PROCESS_LIMITS = 16 };

struct graft_process_state {
    struct stat files[GRAFT_PROCESS_FILES];
    struct stat folder;
    struct rlimit limits[GRAFT_PROCESS_LIMITS];
};

void graft_process_look(struct graft_process_state *state);

/* What was done to the process since then, "changed the working directory", or NULL. Children of before count as left
 * behind. */
const char *graft_process_change(const struct graft_process_state *before);

#endif
