/* SPDX-License-Identifier: Apache-2.0 */
/* Why a transform of names cannot be made or applied; the error says it in words. */
#ifndef GRAFT_NAMES_KEY_FAULT_H
#define GRAFT_NAMES_KEY_FAULT_H

#include "graft/error.h"

enum key_fault {
    KEY_FAULT_NONE,
    KEY_FAULT_OTHER,                       /* sizes and the like; out of memory */
    KEY_FAULT_INVALID_REGEX,               /* of all patterns joined */
    KEY_FAULT_MULTIPLE_GROUPS,             /* targets with different groups */
    KEY_FAULT_BACKREFERENCE_WITHOUT_GROUP, /* a source with \1, but no target with a group */
    KEY_FAULT_GROUP_LENGTH,                /* a group of renamings that are no pairs */
    KEY_FAULT_PREFIX_ARGUMENTS,            /* not exactly one prefix */
    KEY_FAULT_NO_OPERATIONS,               /* a converter without any */
    KEY_FAULT_MANY_TO_MANY,
    KEY_FAULT_NO_SUCH_GROUP,       /* a target with \1, where the pattern that matched has no group */
    KEY_FAULT_GROUP_DID_NOT_MATCH, /* the group took no part in the match */
    KEY_FAULT_INDEX                /* what should be a number to shift is none, or becomes negative */
};

/* As graft_error_set; also sets `*fault` (which may be NULL). */
int graft_key_failed(enum key_fault *fault, enum key_fault which, struct graft_error *error, int code,
                     const char *place, const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
