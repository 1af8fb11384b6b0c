/* SPDX-License-Identifier: Apache-2.0 */
/* Stores inputs in files, for readers that take a path. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/target.h"

static char folder[] = "/dev/shm/graft-fuzz-XXXXXX";
static char file[sizeof folder + 64];

static void clean_up(void) {
    DIR *stream = opendir(folder);
    for (const struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        (void)unlinkat(dirfd(stream), entry->d_name, 0);
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    (void)rmdir(folder);
}

const char *fuzz_folder(void) {
    static int made;
    if (!made && mkdtemp(folder) == NULL) {
        perror(folder);
        exit(2);
    }
    if (!made) {
        made = 1;
        (void)atexit(clean_up);
    }
    return folder;
}

const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size) {
    (void)snprintf(file, sizeof file, "%s/%s", fuzz_folder(), name);
    FILE *stream = fopen(file, "wb");
    if (stream == NULL || fwrite(bytes, 1, size, stream) != size || fclose(stream) != 0) {
        perror(file);
        exit(2);
    }
    return file;
}
