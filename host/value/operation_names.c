/* SPDX-License-Identifier: Apache-2.0 */
/* Names of operations. */
#include <string.h>

#include "value/operations.h"

static const char *const names[] = {
    [GRAFT_OP_CONCATENATE] = "Concatenate",
    [GRAFT_OP_CHUNK] = "Chunk",
    [GRAFT_OP_MERGE_MODULELIST] = "MergeModulelist",
    [GRAFT_OP_SPLIT_MODULELIST] = "SplitModulelist",
    [GRAFT_OP_SPLIT] = "Split",
    [GRAFT_OP_INTERLEAVE] = "Interleave",
    [GRAFT_OP_TRANSPOSE] = "Transpose",
    [GRAFT_OP_CONV3D_TO_LINEAR] = "Conv3dToLinear",
    [GRAFT_OP_LINEAR_TO_CONV3D] = "LinearToConv3d",
    [GRAFT_OP_PERMUTE_FOR_ROPE] = "PermuteForRope",
    [GRAFT_OP_CUSTOM] = "custom",
    [GRAFT_OP_SLICE] = "Slice",
    [GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS] = "ErnieFuseAndSplitTextVisionExperts",
    [GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS] = "ErnieSplitAndDecoupleTextVisionExperts",
};

enum { N_NAMES = sizeof names / sizeof names[0] };

const char *graft_operation_name(int32_t kind) {
    return kind > 0 && kind < (int32_t)N_NAMES ? names[kind] : "?";
}

int32_t graft_operation_kind(const char *name) {
    for (int32_t i = 1; i < (int32_t)N_NAMES; i++) {
        if (i != GRAFT_OP_CUSTOM && strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return 0;
}

void graft_operation_add_names(struct graft_text *text) {
    for (int32_t i = 1; i < (int32_t)N_NAMES; i++) {
        if (i != GRAFT_OP_CUSTOM) {
            graft_text_printf(text, "%s%s", text->length > 0 ? ", " : "", names[i]);
        }
    }
}

void graft_operation_describe(const struct graft_operation *operation, struct graft_text *text) {
    if (operation->kind == GRAFT_OP_CUSTOM) {
        graft_text_add_string(text, operation->custom->name);
        return;
    }
    graft_text_add_string(text, graft_operation_name(operation->kind));
    switch (operation->kind) {
    case GRAFT_OP_TRANSPOSE:
        graft_text_printf(text, "(dim0=%lld, dim1=%lld%s)", (long long)operation->dim, (long long)operation->dim1,
                          operation->check_dims ? ", check_dims" : "");
        break;
    case GRAFT_OP_CONV3D_TO_LINEAR:
    case GRAFT_OP_LINEAR_TO_CONV3D:
        break;
    case GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS:
    case GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS:
        graft_text_printf(text, "(stack_dim=%lld, concat_dim=%lld)", (long long)operation->dim,
                          (long long)operation->dim1);
        break;
    case GRAFT_OP_PERMUTE_FOR_ROPE:
        graft_text_add_string(text, operation->inverse ? "(inverse)" : "");
        break;
    case GRAFT_OP_SLICE:
        graft_text_printf(text, "(dim=%lld, begin=%lld, length=%lld", (long long)operation->dim,
                          (long long)operation->begin, (long long)operation->length);
        if (operation->of > 0) {
            graft_text_printf(text, ", of=%lld", (long long)operation->of);
        }
        for (int i = 0; i < GRAFT_SLICE_PARTS && operation->parts[i] > 0; i++) {
            graft_text_printf(text, "%s%lld", i == 0 ? ", parts=" : ":", (long long)operation->parts[i]);
        }
        graft_text_add_string(text, ")");
        break;
    default:
        graft_text_printf(text, "(dim=%lld%s)", (long long)operation->dim,
                          operation->kind == GRAFT_OP_INTERLEAVE && operation->inverse ? ", inverse" : "");
    }
}
