/* SPDX-License-Identifier: Apache-2.0 */
#include "chains/glob.h"

#include <stddef.h>

/* On a mismatch the last star matches one character more; earlier stars need no other choice. This holds between dots,
 * which no star matches: a dot in the glob settles the choices before it. */
int graft_glob_fits(const char *glob, const char *path) {
    const char *star = NULL; /* the last star in the glob since its last dot; NULL: none */
    const char *left = NULL; /* the part of the path after what that star matches */
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
