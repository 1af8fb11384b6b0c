/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Globs of transformers' parallel plans (`base_model_tp_plan`, `base_model_ep_plan`), "layers.*.mlp.up_proj": a `*`
 * stands for one part of a path, and paths may have more parts in front.
 */
#ifndef GRAFT_GLOB_H
#define GRAFT_GLOB_H

#include <string.h>

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [any] As graft_glob_match, of a path that has no more parts in front. */
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

/* [any] Whether the first parts of a glob of `length` characters are those of the path, as many as it has: how much of
 * the glob they are; 0: they are not. */
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
