/* SPDX-License-Identifier: Apache-2.0 */
/* Products of many tokens with weights that a source makes one portion at a time (transposed.h), on processors with
 * tiles. Pairs of columns, with 16 rows side by side, are the right operand, so x is the left one, in its usual order.
 * Each output is the same chain of additions as in tiles.h, with the same bits. */
#ifndef GRAFT_KERNELS_TILES_TRANSPOSED_H
#define GRAFT_KERNELS_TILES_TRANSPOSED_H

#include "kernels/tiles.h"
#include "kernels/transposed.h"

struct graft_tiles_transposed_product {
    const struct graft_transposed_source *source;
    int64_t row;       /* first row; a multiple of GRAFT_TRANSPOSED_ROWS */
    int64_t rows;      /* likewise */
    int64_t columns;   /* a multiple of GRAFT_TILE_COLUMNS */
    const uint16_t *x; /* [tokens, columns] packed by `pack`, see graft_tiles_offset */
    int64_t tokens;
    float *y; /* [tokens, rows] */
    int64_t y_stride;
    char *scratch; /* scratch_bytes bytes, aligned to 64 */
};

struct graft_tiles_transposed {
    /* Like pack of tiles.h, but out [columns / 32 rounded up, 16 tokens, 32]. */
    void (*pack)(const float *x, int64_t x_stride, int64_t tokens, int64_t columns, uint16_t *out);
    /* Bytes of scratch memory for a product with this many rows and tokens. */
    int64_t (*scratch_bytes)(int64_t rows, int64_t tokens);
    /* y[t, r] = sum over k of x[t, k] * w[r, k]; 0 < columns. Subnormal numbers count as zeros. */
    void (*multiply)(const struct graft_tiles_transposed_product *operands);
};

/* [any] The processor's tiles or, if graft_cpu_models_tiles(), the model's. Only with GRAFT_ISA_AMX. */
const struct graft_tiles_transposed *graft_tiles_transposed_get(void);

extern const struct graft_tiles_transposed graft_tiles_transposed_amx;
extern const struct graft_tiles_transposed graft_tiles_transposed_model;

#endif
