/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the parts of a value in one buffer. Used in this folder only. */
#ifndef GRAFT_BIND_COPY_H
#define GRAFT_BIND_COPY_H

#include "value/value.h"

/* Writes the value's elements in order to `to`, as `dtype`: the type of all parts, or f32. Parts need no alignment. */
void graft_copy_value(const struct graft_value *value, graft_dtype dtype, void *to);

/* Like graft_copy_value, for elements [begin, end) and on this thread; element `begin` goes to `to`. */
void graft_copy_elements(const struct graft_value *value, graft_dtype dtype, int64_t begin, int64_t end, void *to);

void graft_fill_f32(float *to, int64_t count, float number);

#endif
