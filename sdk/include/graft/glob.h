/* SPDX-License-Identifier: Apache-2.0 */
/* Globs of transformers' parallel plans (`base_model_tp_plan`, `base_model_ep_plan`), such as "layers.*.mlp.up_proj".
 * `*` matches one component of a path, and a glob may match from any component on. */
#ifndef GRAFT_GLOB_H
#define GRAFT_GLOB_H

#include <string.h>

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [any] Like graft_glob_match, but the glob must match from the path's first component on. */
GRAFT_INLINE size_t graft_glob_match_here(const char *glob, size_t length, const char *path) {
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

/* [any] Whether the path, from some component to its end, matches the first components of a glob of `length`
 * characters. Returns the length of the matched part of the glob, or 0 if the path does not match. */
GRAFT_INLINE size_t graft_glob_match(const char *glob, size_t length, const char *path) {
    size_t matched = graft_glob_match_here(glob, length, path);
    for (const char *dot = strchr(path, '.'); dot != NULL && matched == 0; dot = strchr(dot + 1, '.')) {
        matched = graft_glob_match_here(glob, length, dot + 1);
    }
    return matched;
}

#ifdef __cplusplus
}
#endif

#endif
