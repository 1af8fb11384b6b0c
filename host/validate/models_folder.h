/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of the tiny models, in memory where there is /dev/shm. However the process ends, nothing of it is left: a
 * keeper, a process of its own that nobody's signals reach, removes it as soon as the process that made it is gone.
 */
#ifndef GRAFT_VALIDATE_MODELS_FOLDER_H
#define GRAFT_VALIDATE_MODELS_FOLDER_H

#include "graft/error.h"

struct graft_models_folder {
    char *path;
    int alive; /* a pipe that the keeper waits on: it acts when the last copy is closed */
};

/* [any, in a process with one thread and without children] The caller ends with graft_models_folder_finish, also after
 * an error (GRAFT_ERROR_IO). */
int graft_models_folder_init(struct graft_models_folder *folder, struct graft_error *error);
void graft_models_folder_finish(struct graft_models_folder *folder);

#endif
