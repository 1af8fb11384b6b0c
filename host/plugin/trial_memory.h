/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was tried before, in a file of the user's cache: a line for each trial, the last one about a file counts. It is
 * only ever appended to, a line in one write, so that processes may share it; grown large it starts anew.
 */
#ifndef GRAFT_PLUGIN_TRIAL_MEMORY_H
#define GRAFT_PLUGIN_TRIAL_MEMORY_H

#include "plugin/trial.h"

/* Starts as {0}, which remembers nothing. */
struct graft_trial_memory {
    char *path; /* NULL: there is nowhere to remember */
    char *text; /* of the file, as it was */
};

/* [any] What cannot be read is not remembered. The caller finishes it. */
void graft_trial_memory_open(struct graft_trial_memory *memory);

/* [any] Whether the file was tried as it is now. */
int graft_trial_recall(const struct graft_trial_memory *memory, const char *file, struct graft_trial *trial);

/* [any] Remembers, where that is possible, what came of a file. */
void graft_trial_remember(const struct graft_trial_memory *memory, const char *file, const struct graft_trial *trial);

void graft_trial_memory_finish(struct graft_trial_memory *memory);

#endif
