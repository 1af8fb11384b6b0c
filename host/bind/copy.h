/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering the runs of a value in one place. Shared by the units of this folder only. */
#ifndef GRAFT_BIND_COPY_H
#define GRAFT_BIND_COPY_H

#include "transform/value.h"

/* Writes the value's elements in order to `to`, as `dtype`: that of all runs, or f32. Runs are read wherever they lie,
 * aligned or not. */
void copy_value(const struct graft_value *value, graft_dtype dtype, void *to);

void fill_f32(float *to, int64_t count, float number);

#endif
