/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the elements of a box from one array to another. */
#ifndef GRAFT_BIND_COPY_BOX_H
#define GRAFT_BIND_COPY_BOX_H

#include "graft/dtype.h"
#include "value/box.h"

/* [any] Copies elements of `size` bytes (1, 2, 4 or 8) from the box's `begin` side in `from` to its `at` side in `to`.
 * Neither side needs alignment. Transposes go through tiles that fit the cache. */
void graft_copy_box(const struct graft_box *box, int64_t size, const void *from, void *to);

#endif
