/* SPDX-License-Identifier: Apache-2.0 */
/* graft.regex/1: the host's regular expressions (PCRE2, close to Python's `re`), for patterns that come from files. */
#ifndef GRAFT_REGEX_H
#define GRAFT_REGEX_H

#include "abi.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_REGEX_ID "graft.regex/1"

struct graft_regexes {
    uint32_t struct_size;
    uint32_t reserved;
    /* [any] Searches for `pattern` in `text`; `*found` becomes 1 or 0. An invalid pattern, or one that takes too many
     * steps, is GRAFT_ERROR_MODEL with `source` as the error's source. */
    int (*search)(const char *pattern, const char *text, const char *source, int32_t *found, struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_regexes, 16);

#ifdef __cplusplus
}
#endif

#endif
