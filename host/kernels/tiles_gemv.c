/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix times vector products with tiles. Compiled twice, like tiles_product.c. */
#include "kernels/tiles_gemv.h"

#include <string.h>

#include "kernels/simd_avx512.h"
#include "kernels/tile_ops.h"
#include "kernels/tile_sums.h"
#include "kernels/tiles.h"

#ifdef GRAFT_TILE_MODEL
#define TABLE graft_tiles_gemv_model
#else
#define TABLE graft_tiles_gemv_amx
#endif

/* Rows of a strip: one tile. With two, memory would be read in more streams than the processor's prefetcher follows; a
 * single sequence would take a sixth longer. */
enum { ROWS = 16, TOKENS = GRAFT_TILE_TOKENS, STEP = GRAFT_TILE_COLUMNS, X_TILE = TOKENS * STEP, LINE = 64 };

/* The distance of prefetching into the first-level cache, in elements of a row. The processor itself recognises too
 * late what tiles will load. */
enum { AHEAD = 4 * STEP };

/* Up to ROWS rows of a product. */
struct strip {
    const struct graft_gemv *gemv;
    int64_t row;
    int64_t rows;
};

INLINE void add_step(const uint16_t *w, int64_t stride, const uint16_t *x) {
    tile_load(1, w, stride * (int64_t)sizeof *w);
    tile_load(2, x, LINE);
    tile_multiply(0, 1, 2);
}

/* Adds a step with missing rows or columns, which count as zeros. */
static void add_part(const struct strip *strip, int64_t column, const uint16_t *x) {
    const struct graft_gemv *o = strip->gemv;
    const int64_t columns = o->columns - column < STEP ? o->columns - column : STEP;
    uint16_t copy[ROWS * STEP] __attribute__((aligned(LINE))) = {0};
    for (int64_t r = 0; r < strip->rows; r++) {
        memcpy(copy + r * STEP, o->w + (strip->row + r) * o->columns + column, (size_t)columns * sizeof *copy);
    }
    add_step(copy, STEP, x);
}

static void multiply_strip(const struct strip *strip) {
    const struct graft_gemv *o = strip->gemv;
    const uint16_t *w = o->w + strip->row * o->columns, *x = o->x;
    const int64_t whole = strip->rows == ROWS ? o->columns / STEP * STEP : 0;
    float sums[ROWS * TOKENS] __attribute__((aligned(LINE)));
    tile_zero(0);
    for (int64_t column = 0; column < whole; column += STEP, w += STEP, x += X_TILE) {
        for (int64_t r = 0; r < ROWS; r++) {
            _mm_prefetch((const char *)(w + r * o->columns + AHEAD), _MM_HINT_T0);
        }
        add_step(w, o->columns, x);
    }
    for (int64_t column = whole; column < o->columns; column += STEP, x += X_TILE) {
        add_part(strip, column, x);
    }
    tile_store(0, sums, LINE);
    tile_sums_write(sums, o->tokens, strip->rows, o->y + strip->row, o->y_stride);
}

static void multiply(const struct graft_gemv *o) {
    tile_configure(&tiles_whole);
    for (int64_t row = 0; row < o->rows; row += ROWS) {
        multiply_strip(&(struct strip){o, row, o->rows - row < ROWS ? o->rows - row : ROWS});
    }
    tile_release();
}

const struct graft_tiles_gemv TABLE = {.multiply = multiply};
