/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dtype.h"

static const struct {
    const char *name;
    int64_t size;
} dtypes[] = {
    [GRAFT_DTYPE_NONE] = {"none", 0},       [GRAFT_DTYPE_F64] = {"F64", 8},
    [GRAFT_DTYPE_F32] = {"F32", 4},         [GRAFT_DTYPE_F16] = {"F16", 2},
    [GRAFT_DTYPE_BF16] = {"BF16", 2},       [GRAFT_DTYPE_I64] = {"I64", 8},
    [GRAFT_DTYPE_I32] = {"I32", 4},         [GRAFT_DTYPE_I16] = {"I16", 2},
    [GRAFT_DTYPE_I8] = {"I8", 1},           [GRAFT_DTYPE_U64] = {"U64", 8},
    [GRAFT_DTYPE_U32] = {"U32", 4},         [GRAFT_DTYPE_U16] = {"U16", 2},
    [GRAFT_DTYPE_U8] = {"U8", 1},           [GRAFT_DTYPE_BOOL] = {"BOOL", 1},
    [GRAFT_DTYPE_F8_E4M3] = {"F8_E4M3", 1}, [GRAFT_DTYPE_F8_E5M2] = {"F8_E5M2", 1},
    [GRAFT_DTYPE_F8_E8M0] = {"F8_E8M0", 1},
};

static int is_known(graft_dtype dtype) {
    return dtype >= 0 && dtype < (graft_dtype)(sizeof dtypes / sizeof dtypes[0]);
}

int64_t graft_dtype_size(graft_dtype dtype) {
    return is_known(dtype) ? dtypes[dtype].size : 0;
}

const char *graft_dtype_name(graft_dtype dtype) {
    return is_known(dtype) ? dtypes[dtype].name : "?";
}
