/* SPDX-License-Identifier: Apache-2.0 */
/* Reverses operations as transformers does. The host does not: it saves by a journal of what it loaded. */
#ifndef GRAFT_TEST_OPERATION_REVERSE_H
#define GRAFT_TEST_OPERATION_REVERSE_H

#include "graft/conversion.h"
#include "value/operations.h"

/* The operation that undoes another one: the chain backwards, each step reversed, from targets to sources. A
 * Concatenate is undone by a Split with the sources' sizes. A custom operation is returned unchanged. */
static inline struct graft_operation operation_reverse(const struct graft_operation *operation) {
    static const int32_t reverses[] = {
        [GRAFT_OP_CONCATENATE] = GRAFT_OP_SPLIT,
        [GRAFT_OP_CHUNK] = GRAFT_OP_CONCATENATE,
        [GRAFT_OP_SPLIT] = GRAFT_OP_CONCATENATE,
        [GRAFT_OP_MERGE_MODULELIST] = GRAFT_OP_SPLIT_MODULELIST,
        [GRAFT_OP_SPLIT_MODULELIST] = GRAFT_OP_MERGE_MODULELIST,
        [GRAFT_OP_CONV3D_TO_LINEAR] = GRAFT_OP_LINEAR_TO_CONV3D,
        [GRAFT_OP_LINEAR_TO_CONV3D] = GRAFT_OP_CONV3D_TO_LINEAR,
        [GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS] = GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS,
        [GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS] = GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS,
    };
    struct graft_operation reverse = *operation;
    if (operation->kind > 0 && operation->kind < (int32_t)(sizeof reverses / sizeof reverses[0]) &&
        reverses[operation->kind] != 0) {
        reverse.kind = reverses[operation->kind];
    }
    if (operation->kind == GRAFT_OP_CONCATENATE && operation->num_shards_attribute != NULL) {
        reverse.kind = GRAFT_OP_CHUNK; /* as many tensors of one name as the config says */
    }
    reverse.inverse = !operation->inverse;
    return reverse;
}

#endif
