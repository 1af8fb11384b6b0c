/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary folder in memory if possible, for tests that sync hundreds of files, which takes minutes on a disk. */
#ifndef GRAFT_TEST_MEMORY_FOLDER_H
#define GRAFT_TEST_MEMORY_FOLDER_H

#include "folder.h"

/* Like folder_create. */
static inline void memory_folder_create(char *folder) {
    (void)snprintf(folder, 64, "/dev/shm/graft-test-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        folder_create(folder);
    }
}

#endif
