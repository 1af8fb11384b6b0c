/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering the parts of a value in one place. Shared by the units of this folder only. */
#ifndef GRAFT_BIND_COPY_H
#define GRAFT_BIND_COPY_H

#include "value/value.h"

/* Writes the value's elements in order to `to`, as `dtype`: that of all parts, or f32. Parts are read wherever they
 * lie, aligned or not. */
void graft_copy_value(const struct graft_value *value, graft_dtype dtype, void *to);

/* The same for elements [begin, end), on this thread; the first goes to `to`. */
void graft_copy_elements(const struct graft_value *value, graft_dtype dtype, int64_t begin, int64_t end, void *to);

void graft_fill_f32(float *to, int64_t count, float number);

#endif
