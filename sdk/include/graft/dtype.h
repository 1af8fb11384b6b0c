/* SPDX-License-Identifier: Apache-2.0 */
/* Element types, under the names that safetensors files use. struct graft_host has functions for their sizes and names
 * (host.h). */
#ifndef GRAFT_DTYPE_H
#define GRAFT_DTYPE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* GRAFT_DTYPE_... */
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
    GRAFT_DTYPE_F8_E5M2 = 15,
    GRAFT_DTYPE_F8_E8M0 = 16 /* powers of two, for scales; parameters that may have any type get them as F32 */
};

#ifdef __cplusplus
}
#endif

#endif
