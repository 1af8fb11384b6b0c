/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers trials in a file of the user's cache: one line for each trial, of which the last one about a plugin counts.
 * The file is only appended to, each line in one write, so that processes can share it. Once it is large it is started
 * again.
 */
#ifndef GRAFT_PLUGIN_TRIAL_MEMORY_H
#define GRAFT_PLUGIN_TRIAL_MEMORY_H

#include "plugin/trial.h"

/* Starts as {0}, which is an empty memory. */
struct graft_trial_memory {
    char *path; /* NULL: there is no place for the file */
    char *text; /* content of the file when it was opened */
};

/* [any] Opens the memory; an unreadable file counts as empty. The caller finishes it. */
void graft_trial_memory_open(struct graft_trial_memory *memory);

/* [any] Finds the verdict on a file in its current state. Returns whether there is one. */
int graft_trial_recall(const struct graft_trial_memory *memory, const char *file, struct graft_trial *trial);

/* [any] Remembers the verdict on a file, if that is possible. */
void graft_trial_remember(const struct graft_trial_memory *memory, const char *file, const struct graft_trial *trial);

void graft_trial_memory_finish(struct graft_trial_memory *memory);

#endif
