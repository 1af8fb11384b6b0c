/* SPDX-License-Identifier: Apache-2.0 */
/* Element types, under the names that safetensors files use. */
#ifndef GRAFT_DTYPE_H
#define GRAFT_DTYPE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t graft_dtype;

enum {
    GRAFT_DTYPE_NONE = 0,
    GRAFT_DTYPE_F64 = 1,
    GRAFT_DTYPE_F32 = 2,
    GRAFT_DTYPE_F16 = 3,
    GRAFT_DTYPE_BF16 = 4,
    GRAFT_DTYPE_I64 = 5,
    GRAFT_DTYPE_I32 = 6,
    GRAFT_DTYPE_I16 = 7,
    GRAFT_DTYPE_I8 = 8,
    GRAFT_DTYPE_U64 = 9,
    GRAFT_DTYPE_U32 = 10,
    GRAFT_DTYPE_U16 = 11,
    GRAFT_DTYPE_U8 = 12,
    GRAFT_DTYPE_BOOL = 13,
    GRAFT_DTYPE_F8_E4M3 = 14,
    GRAFT_DTYPE_F8_E5M2 = 15
};

/* [any] Bytes of one element; 0 for a number that names no type. */
static inline int64_t graft_dtype_size(graft_dtype dtype) {
    switch (dtype) {
    case GRAFT_DTYPE_F64:
    case GRAFT_DTYPE_I64:
    case GRAFT_DTYPE_U64:
        return 8;
    case GRAFT_DTYPE_F32:
    case GRAFT_DTYPE_I32:
    case GRAFT_DTYPE_U32:
        return 4;
    case GRAFT_DTYPE_F16:
    case GRAFT_DTYPE_BF16:
    case GRAFT_DTYPE_I16:
    case GRAFT_DTYPE_U16:
        return 2;
    case GRAFT_DTYPE_I8:
    case GRAFT_DTYPE_U8:
    case GRAFT_DTYPE_BOOL:
    case GRAFT_DTYPE_F8_E4M3:
    case GRAFT_DTYPE_F8_E5M2:
        return 1;
    default:
        return 0;
    }
}

/* [any] The name that safetensors headers use; "?" for a number that names no type. */
static inline const char *graft_dtype_name(graft_dtype dtype) {
    static const char *const names[] = {"none", "F64", "F32", "F16", "BF16", "I64",  "I32",     "I16",
                                        "I8",   "U64", "U32", "U16", "U8",   "BOOL", "F8_E4M3", "F8_E5M2"};
    return dtype >= 0 && dtype < (graft_dtype)(sizeof names / sizeof names[0]) ? names[dtype] : "?";
}

#ifdef __cplusplus
}
#endif

#endif
