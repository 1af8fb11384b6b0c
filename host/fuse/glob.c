/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/glob.h"

#include <stddef.h>

/* Where a star fails, the last one takes a character more; one before it cannot do better. That holds between dots,
 * which no star takes: a dot of the glob ends the choices made before it. */
int graft_glob_fits(const char *glob, const char *path) {
    const char *star = NULL; /* the last one since a dot, and what is left of the path behind what it takes */
    const char *left = NULL;
    while (*path != '\0') {
        if (*glob == '*') {
            star = glob++;
            left = path;
        } else if (*glob == *path) {
            star = *glob == '.' ? NULL : star;
            glob++;
            path++;
        } else if (star != NULL && *left != '.') {
            glob = star + 1;
            path = ++left;
        } else {
            return 0;
        }
    }
    while (*glob == '*') {
        glob++;
    }
    return *glob == '\0';
}
