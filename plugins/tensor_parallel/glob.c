/* SPDX-License-Identifier: Apache-2.0 */
#include "glob.h"

#include <string.h>

static size_t match_here(const char *glob, size_t length, const char *path) {
    const char *at = glob, *end = glob + length;
    for (;;) {
        size_t part = strcspn(path, "."), wanted = 0;
        while (at + wanted < end && at[wanted] != '.') {
            wanted++;
        }
        int any = wanted == 1 && *at == '*' && part > 0;
        if (!any && (part != wanted || memcmp(at, path, part) != 0)) {
            return 0;
        }
        at += wanted;
        if (path[part] == '\0') {
            return (size_t)(at - glob);
        }
        if (at == end) {
            return 0;
        }
        at++;
        path += part + 1;
    }
}

size_t glob_match(const char *glob, size_t length, const char *path) {
    size_t matched = match_here(glob, length, path);
    for (const char *dot = strchr(path, '.'); dot != NULL && matched == 0; dot = strchr(dot + 1, '.')) {
        matched = match_here(glob, length, dot + 1);
    }
    return matched;
}
