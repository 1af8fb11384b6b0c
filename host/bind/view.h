/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the row blocks of a value. Used in this folder only. */
#ifndef GRAFT_BIND_VIEW_H
#define GRAFT_BIND_VIEW_H

#include "value/value.h"

/* Fills in the `n` blocks of a value, in the order of its rows. Each part of the value is whole rows of `columns`
 * elements. Returns 0, or -1 if memory ran out. */
int graft_view_blocks(const struct graft_value *value, int64_t columns, struct graft_row_block *blocks, size_t n);

#endif
