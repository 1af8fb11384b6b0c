/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor in a file: its name, type and shape, and where its bytes are mapped. */
#ifndef GRAFT_WEIGHTS_TENSOR_VIEW_H
#define GRAFT_WEIGHTS_TENSOR_VIEW_H

#include <stdint.h>

#include "graft/dtype.h"
#include "graft/tensor.h"

struct graft_computed;

struct graft_tensor_view {
    const char *name; /* UTF-8; control characters may be in it */
    graft_dtype dtype;
    int32_t rank;                  /* 0 for a scalar */
    int64_t shape[GRAFT_MAX_RANK]; /* entries from `rank` on are 1 */
    const void *data;              /* row-major, little-endian; on any boundary, whatever the type */
    int64_t bytes;
    const char *file; /* path of the file, for messages */
    /* What makes it (value/computed.h), for one that is in no file: `name` is then that of a tensor it is made of,
     * and `data` is there once the model is bound. NULL for all others. */
    const struct graft_computed *computed;
};

/* [any] The type with that name in a safetensors header; GRAFT_DTYPE_NONE when there is none such. */
graft_dtype graft_dtype_from_name(const char *name);

/* [any] The bytes that a tensor of this type and shape takes; -1 when they overflow. */
int64_t graft_tensor_view_size(graft_dtype dtype, int32_t rank, const int64_t *shape);

#endif
