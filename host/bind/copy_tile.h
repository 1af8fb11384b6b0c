/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes a small matrix. Used in this folder only. */
#ifndef GRAFT_BIND_COPY_TILE_H
#define GRAFT_BIND_COPY_TILE_H

#include <stdint.h>

/* The side of a tile: a cache line. */
enum { TILE_BYTES = 64 };

/* [any] to[r][c] = from[c][r] for elements of `size` bytes (1, 2, 4 or 8), at most TILE_BYTES a side; strides are in
 * bytes. Nothing needs alignment. `next` is the tile to be transposed next, with as many columns, or `from`. */
void graft_copy_tile(int64_t size, int64_t rows, int64_t columns, const char *from, const char *next, int64_t from_step,
                     char *to, int64_t to_step);

#endif
