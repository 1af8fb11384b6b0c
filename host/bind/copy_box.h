/* SPDX-License-Identifier: Apache-2.0 */
/* Moving the elements of a box from one array to another. */
#ifndef GRAFT_BIND_COPY_BOX_H
#define GRAFT_BIND_COPY_BOX_H

#include "graft/dtype.h"
#include "value/box.h"

/* [any] Copies elements of `size` bytes (1, 2, 4 or 8): those at the box's `begin` side of `from` to its `at` side of
 * `to`. Both sides may lie on any boundary. Transposes go through tiles that fit the cache. */
void graft_copy_box(const struct graft_box *box, int64_t size, const void *from, void *to);

#endif
