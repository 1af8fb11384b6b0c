/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor in a file: its name, type and shape, and where its bytes are mapped. */
#ifndef GRAFT_WEIGHTS_TENSOR_VIEW_H
#define GRAFT_WEIGHTS_TENSOR_VIEW_H

#include <stdint.h>

#include "graft/dtype.h"
#include "graft/tensor.h"

struct graft_absent_file;
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
    /* The file of one that is not there (weights/checkpoint.h), and which other processes have. NULL for all others. */
    const struct graft_absent_file *absent;
    int32_t is_made; /* 1: it is in no file, and `data` is memory (graft_checkpoint_exchange) */
};

/* Types of the format that nothing here computes with. A tensor may have one and is kept, but no value is made of it,
 * so that they stay out of the sight of parameters and plugins; graft/dtype.h does not know them. */
enum {
    GRAFT_DTYPE_C64 = 1000,
    GRAFT_DTYPE_F8_E4M3FNUZ,
    GRAFT_DTYPE_F8_E5M2FNUZ,
    GRAFT_DTYPE_F6_E2M3,
    GRAFT_DTYPE_F6_E3M2,
    GRAFT_DTYPE_F4
};

/* [any] The type with that name in a safetensors header; GRAFT_DTYPE_NONE when there is none such. */
graft_dtype graft_dtype_from_name(const char *name);

/* [any] Its name there, and the bits of an element (0 for none), of all types of the format. */
const char *graft_stored_dtype_name(graft_dtype dtype);
int32_t graft_stored_dtype_bits(graft_dtype dtype);

/* [any] The bytes that tensors of this type are moved by: an element's, or 1 where nothing here knows elements. */
int64_t graft_stored_dtype_unit(graft_dtype dtype);

enum { GRAFT_SIZE_OVERFLOWS = -1, GRAFT_SIZE_IN_A_BYTE = -2 };

/* [any] The bytes that a tensor of this type and shape takes; below 0 when they overflow, or end within a byte. */
int64_t graft_tensor_view_size(graft_dtype dtype, int32_t rank, const int64_t *shape);

#endif
