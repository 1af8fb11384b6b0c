/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and names of element types. Plugins ask struct graft_host instead, so that old plugins know new types. */
#ifndef GRAFT_BASE_DTYPE_H
#define GRAFT_BASE_DTYPE_H

#include "graft/dtype.h"

/* [any] Bytes of one element; 0 for a number that names no type. */
int64_t graft_dtype_size(graft_dtype dtype);

/* [any] The name that safetensors headers use; "?" for a number that names no type. */
const char *graft_dtype_name(graft_dtype dtype);

#endif
