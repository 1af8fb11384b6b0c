/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor in a file: its name, type, shape, and mapped bytes. */
#ifndef GRAFT_WEIGHTS_TENSOR_VIEW_H
#define GRAFT_WEIGHTS_TENSOR_VIEW_H

#include <stdint.h>

#include "graft/dtype.h"
#include "graft/tensor.h"

struct graft_absent_file;
struct graft_computed;

struct graft_tensor_view {
    const char *name; /* UTF-8; may contain control characters */
    graft_dtype dtype;
    int32_t rank;                  /* 0 for a scalar */
    int64_t shape[GRAFT_MAX_RANK]; /* entries from `rank` on are 1 */
    const void *data;              /* row-major, little-endian, not necessarily aligned */
    int64_t bytes;
    const char *file; /* path of the file, for messages */
    /* For the output of a custom operation, the operation that makes it (value/computed.h): `name` is then the name of
     * one of the operation's inputs, and `data` is set when the model is bound. NULL for all other tensors. */
    const struct graft_computed *computed;
    /* For a tensor in a listed file that is missing here and that other processes have: that file
     * (weights/checkpoint.h). NULL for all other tensors. */
    const struct graft_absent_file *absent;
    int32_t is_made; /* 1: `data` is memory, not a mapped file (graft_checkpoint_exchange) */
};

/* Types of the format that Graft does not compute with. Tensors of these types are kept, but no value is made of them,
 * so that parameters and plugins never see them; graft/dtype.h does not have them. */
enum {
    GRAFT_DTYPE_C64 = 1000,
    GRAFT_DTYPE_F8_E4M3FNUZ,
    GRAFT_DTYPE_F8_E5M2FNUZ,
    GRAFT_DTYPE_F6_E2M3,
    GRAFT_DTYPE_F6_E3M2,
    GRAFT_DTYPE_F4
};

/* [any] The type with that name in a safetensors header; GRAFT_DTYPE_NONE if there is none. */
graft_dtype graft_dtype_from_name(const char *name);

/* [any] The name of a type in a safetensors header, and the bits of one element (0 if there is no such type), for all
 * types of the format. */
const char *graft_stored_dtype_name(graft_dtype dtype);
int32_t graft_stored_dtype_bits(graft_dtype dtype);

/* [any] The unit in which tensors of this type are copied, in bytes: an element, or 1 byte for types whose elements
 * Graft does not know. */
int64_t graft_stored_dtype_unit(graft_dtype dtype);

enum { GRAFT_SIZE_OVERFLOWS = -1, GRAFT_SIZE_IN_A_BYTE = -2 };

/* [any] The bytes of a tensor of this type and shape; negative if the number overflows or is not a whole number of
 * bytes. */
int64_t graft_tensor_view_size(graft_dtype dtype, int32_t rank, const int64_t *shape);

#endif
