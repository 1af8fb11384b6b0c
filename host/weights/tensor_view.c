/* SPDX-License-Identifier: Apache-2.0 */
#include "weights/tensor_view.h"

#include <string.h>

graft_dtype graft_dtype_from_name(const char *name) {
    for (graft_dtype dtype = GRAFT_DTYPE_NONE + 1; graft_dtype_size(dtype) > 0; dtype++) {
        if (strcmp(name, graft_dtype_name(dtype)) == 0) {
            return dtype;
        }
    }
    return GRAFT_DTYPE_NONE;
}

int64_t graft_tensor_view_size(graft_dtype dtype, int32_t rank, const int64_t *shape) {
    int64_t bytes = graft_dtype_size(dtype);
    for (int32_t i = 0; i < rank; i++) {
        if (shape[i] > 0 && bytes > INT64_MAX / shape[i]) {
            return -1;
        }
        bytes *= shape[i];
    }
    return bytes;
}
