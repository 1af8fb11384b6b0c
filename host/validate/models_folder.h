/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of the tiny models, in /dev/shm if there is one. It is removed however the process ends: a keeper process,
 * which signals to this one do not reach, removes it as soon as this process is gone. */
#ifndef GRAFT_VALIDATE_MODELS_FOLDER_H
#define GRAFT_VALIDATE_MODELS_FOLDER_H

#include "graft/error.h"

struct graft_models_folder {
    char *path;
    int alive; /* the pipe that the keeper waits on: it acts once all copies are closed */
};

/* [any, in a process with one thread and without children] The caller ends with graft_models_folder_finish, also after
 * an error (GRAFT_ERROR_IO). */
int graft_models_folder_init(struct graft_models_folder *folder, struct graft_error *error);
void graft_models_folder_finish(struct graft_models_folder *folder);

#endif
