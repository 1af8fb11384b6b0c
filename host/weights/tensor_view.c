/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/tensor_view.h"

#include <string.h>

#include "base/dtype.h"

struct kept {
    const char *name;
    int32_t bits;
};

/* indexed by dtype, from GRAFT_DTYPE_C64 on */
static const struct kept kept[] = {{"C64", 64},    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
                                   {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"F4", 4}};

enum { KEPT = sizeof kept / sizeof kept[0] };

/* The entry of a type that graft/dtype.h does not have; NULL for all other numbers. */
static const struct kept *find_kept(graft_dtype dtype) {
    return dtype >= GRAFT_DTYPE_C64 && dtype < GRAFT_DTYPE_C64 + KEPT ? &kept[dtype - GRAFT_DTYPE_C64] : NULL;
}

graft_dtype graft_dtype_from_name(const char *name) {
    for (graft_dtype dtype = GRAFT_DTYPE_NONE + 1; graft_dtype_size(dtype) > 0; dtype++) {
        if (strcmp(name, graft_dtype_name(dtype)) == 0) {
            return dtype;
        }
    }
    for (graft_dtype i = 0; i < KEPT; i++) {
        if (strcmp(name, kept[i].name) == 0) {
            return GRAFT_DTYPE_C64 + i;
        }
    }
    return GRAFT_DTYPE_NONE;
}

const char *graft_stored_dtype_name(graft_dtype dtype) {
    const struct kept *of = find_kept(dtype);
    return of != NULL ? of->name : graft_dtype_name(dtype);
}

int32_t graft_stored_dtype_bits(graft_dtype dtype) {
    const struct kept *of = find_kept(dtype);
    return of != NULL ? of->bits : (int32_t)graft_dtype_size(dtype) * 8;
}

int64_t graft_stored_dtype_unit(graft_dtype dtype) {
    return find_kept(dtype) != NULL ? 1 : graft_dtype_size(dtype);
}

int64_t graft_tensor_view_size(graft_dtype dtype, int32_t rank, const int64_t *shape) {
    int32_t bits = graft_stored_dtype_bits(dtype);
    /* size of an element in bytes, or in bits if that is not a whole number of bytes */
    int64_t size = bits % 8 == 0 ? bits / 8 : bits;
    for (int32_t i = 0; i < rank; i++) {
        if (shape[i] > 0 && size > INT64_MAX / shape[i]) {
            return GRAFT_SIZE_OVERFLOWS;
        }
        size *= shape[i];
    }
    if (bits % 8 == 0) {
        return size;
    }
    return size % 8 == 0 ? size / 8 : GRAFT_SIZE_IN_A_BYTE;
}
