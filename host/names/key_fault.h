/* SPDX-License-Identifier: Apache-2.0 */
/* Why a transform of names cannot be compiled or applied; the error's message says it in words. */
#ifndef GRAFT_NAMES_KEY_FAULT_H
#define GRAFT_NAMES_KEY_FAULT_H

#include "graft/error.h"

enum key_fault {
    KEY_FAULT_NONE,
    KEY_FAULT_OTHER,                       /* bad sizes and the like; out of memory */
    KEY_FAULT_INVALID_REGEX,               /* the joined regular expression of all sources is invalid */
    KEY_FAULT_MULTIPLE_GROUPS,             /* targets have different groups */
    KEY_FAULT_BACKREFERENCE_WITHOUT_GROUP, /* a source has \1, but no target has a group */
    KEY_FAULT_GROUP_LENGTH,                /* a group of renamings has unequal numbers of sources and targets */
    KEY_FAULT_PREFIX_ARGUMENTS,            /* a change of prefix does not have exactly one prefix */
    KEY_FAULT_NO_OPERATIONS,               /* a converter has no operations */
    KEY_FAULT_MANY_TO_MANY,
    KEY_FAULT_NO_SUCH_GROUP,       /* a target has \1, but the pattern that matched has no group */
    KEY_FAULT_GROUP_DID_NOT_MATCH, /* the group took no part in the match */
    KEY_FAULT_INDEX                /* the captured text to shift is not a number, or becomes negative */
};

/* Like graft_error_set; also sets `*fault` (which may be NULL). */
int graft_key_failed(enum key_fault *fault, enum key_fault which, struct graft_error *error, int code,
                     const char *place, const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
