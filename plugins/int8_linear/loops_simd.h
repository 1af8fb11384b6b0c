/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops over vectors. Included by loops_avx2.c and loops_avx512.c, which define before it INLINE, the type `vf` of
 * WIDTH floats, the tile of TILE_ROWS rows and TILE_TOKENS tokens, and the functions v_... on vectors.
 *
 * Weights stay int8 in memory and become f32 in registers: for one token the memory is the limit, not the arithmetic,
 * so that rounding activations to int8 as well would cost accuracy and gain nothing.
 */
#ifndef INT8_LINEAR_LOOPS_SIMD_H
#define INT8_LINEAR_LOOPS_SIMD_H

#include "loops.h"

/* What comes so many bytes later is fetched, a cache line at a time: of the row or, at its end, of the one below, whose
 * turn is next. */
enum { LINE = 64, AHEAD = 2048 };

INLINE void prefetch(const int8_t *w) {
    __builtin_prefetch((const void *)((uintptr_t)w + AHEAD), 0, 2);
}

/* Rows r, r + part ... with tokens t .. t + tokens - 1; how many of both are constants where this is inlined. Each
 * output has one vector of sums, filled in the order of the columns whatever the size of the tile. */
INLINE void dot_tile(const struct int8_dot *o, int64_t r, const int rows, int64_t part, int64_t t, const int tokens) {
    const int8_t *w = o->w + r * o->w_stride;
    const float *x = o->x + t * o->x_stride;
    const int64_t step = part * o->w_stride;
    vf sums[TILE_ROWS][TILE_TOKENS];
    vf numbers[TILE_ROWS];
    int64_t k = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < tokens; j++) {
            sums[i][j] = v_zero();
        }
    }
    for (; k + WIDTH <= o->columns; k += WIDTH) {
        for (int i = 0; i < rows && k % LINE == 0; i++) {
            prefetch(w + i * step + k);
        }
        for (int i = 0; i < rows; i++) {
            numbers[i] = v_int8(w + i * step + k);
        }
        for (int j = 0; j < tokens; j++) {
            vf activations = v_load(x + j * o->x_stride + k);
            for (int i = 0; i < rows; i++) {
                sums[i][j] = v_fma(numbers[i], activations, sums[i][j]);
            }
        }
    }
    for (int i = 0; i < rows && k < o->columns; i++) {
        vf rest = v_int8_part(w + i * step + k, o->columns - k);
        for (int j = 0; j < tokens; j++) {
            vf activations = v_load_part(x + j * o->x_stride + k, o->columns - k);
            sums[i][j] = v_fma(rest, activations, sums[i][j]);
        }
    }
    for (int j = 0; j < tokens; j++) {
        for (int i = 0; i < rows; i++) {
            o->sums[(t + j) * o->sums_stride + r + i * part] = v_sum(sums[i][j]);
        }
    }
}

/* Rows of a tile lie in parts of the weight, as far from each other as the part has rows: so memory is read in a few
 * long streams, which processors follow better than steps from row to row. */
static void dot(const struct int8_dot *o) {
    const int64_t part = o->rows / TILE_ROWS;
    for (int64_t r = 0; r < part; r++) {
        int64_t t = 0;
        for (; t + TILE_TOKENS <= o->tokens; t += TILE_TOKENS) {
            dot_tile(o, r, TILE_ROWS, part, t, TILE_TOKENS);
        }
        for (; t < o->tokens; t++) {
            dot_tile(o, r, TILE_ROWS, part, t, 1);
        }
    }
    for (int64_t r = part * TILE_ROWS; r < o->rows; r++) {
        for (int64_t t = 0; t < o->tokens; t++) {
            dot_tile(o, r, 1, 0, t, 1);
        }
    }
}

static float largest(const float *row, int64_t count) {
    float found[WIDTH + 1];
    int64_t i = 0;
    vf most = v_zero();
    for (; i + WIDTH <= count; i += WIDTH) {
        most = v_larger(v_load(row + i), most);
    }
    v_store(found, most);
    found[WIDTH] = int8_loops_scalar.largest(row + i, count - i);
    return int8_loops_scalar.largest(found, WIDTH + 1);
}

static void quantize(const float *row, int64_t count, float factor, int8_t *out) {
    int64_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) {
        v_store_int8(out + i, v_load(row + i), factor);
    }
    int8_loops_scalar.quantize(row + i, count - i, factor, out + i);
}

#endif
