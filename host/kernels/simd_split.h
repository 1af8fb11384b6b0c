/* SPDX-License-Identifier: Apache-2.0 */
/* Products of few tokens with bf16 rows in place, which are widened to f32 on the way. A vector of 32-bit words holds
 * two numbers in each word: the upper halves become f32 by clearing the lower halves, the lower ones by a shift. This
 * takes one operation for each vector, where widening in the order of columns would take two; x is arranged in the
 * resulting order. */
#ifndef GRAFT_KERNELS_SIMD_SPLIT_H
#define GRAFT_KERNELS_SIMD_SPLIT_H

#include <string.h>

#include "kernels/loops.h"
#include "kernels/round.h"
#include "kernels/simd_read.h"

/* Elements of two vectors, even ones first; and elements of a cache line, after which the next row takes its turn. */
enum { SPLIT_BOTH = 2 * VF_WIDTH, SPLIT_LINE = GRAFT_SPLIT_COLUMNS };

/* Tokens that share widened elements; with them, the sums of SPLIT_ROWS rows fill the registers. */
enum { SPLIT_TOKENS = 4 };

/* The distance of prefetching into the second-level cache, in elements. */
enum { SPLIT_AHEAD = 1024 };

/* Elements i .. i + VF_WIDTH - 1 of n, as `reading` says; missing ones are zeros. */
INLINE vf split_read(int32_t reading, const float *x, int64_t i, int64_t n) {
    const int64_t left = n - i < 0 ? 0 : n - i;
    vf numbers = left < VF_WIDTH ? vf_load_part(x + i, left) : vf_load(x + i);
    return reading == GRAFT_READ_F32_AS_BF16 ? vf_round_bf16(numbers) : numbers;
}

static void split(int32_t reading, const float *x, int64_t columns, float *out) {
    for (int64_t k = 0; k < graft_round_up(columns, SPLIT_LINE); k += SPLIT_BOTH) {
        vf first = split_read(reading, x, k, columns), second = split_read(reading, x, k + VF_WIDTH, columns);
        vf_store(out + k, vf_even(first, second));
        vf_store(out + k + VF_WIDTH, vf_odd(first, second));
    }
}

struct split_operands {
    const uint16_t *w; /* [rows, columns] */
    int64_t w_stride;
    int64_t columns;
    const float *x; /* [tokens, columns] as arranged by `split` */
    int64_t x_stride;
    float *y; /* [tokens, rows] */
    int64_t y_stride;
};

/* sums [rows][tokens] += a cache line of each row, `step` elements apart, times a line of each token. */
INLINE void split_add(const uint16_t *w, int64_t step, const int rows, const float *x, int64_t x_stride,
                      const int tokens, vf sums[SPLIT_ROWS][SPLIT_TOKENS]) {
    for (int k = 0; k < SPLIT_LINE; k += VF_WIDTH) {
        vf numbers[SPLIT_ROWS];
        for (int i = 0; i < rows; i++) {
            const uint16_t *both = w + i * step + k / SPLIT_BOTH * SPLIT_BOTH;
            numbers[i] = k % SPLIT_BOTH == 0 ? vf_even_bf16(both) : vf_odd_bf16(both);
        }
        for (int j = 0; j < tokens; j++) {
            vf with = vf_load(x + j * x_stride + k);
            for (int i = 0; i < rows; i++) {
                sums[i][j] = vf_fma(numbers[i], with, sums[i][j]);
            }
        }
    }
}

/* Does the same as split_add for the last n elements of the rows. */
INLINE void split_add_rest(const uint16_t *w, int64_t step, const int rows, int64_t n, const float *x, int64_t x_stride,
                           const int tokens, vf sums[SPLIT_ROWS][SPLIT_TOKENS]) {
    uint16_t ends[SPLIT_ROWS][SPLIT_LINE] = {{0}};
    for (int i = 0; i < rows; i++) {
        memcpy(ends[i], w + i * step, (size_t)n * sizeof *w);
    }
    split_add(ends[0], SPLIT_LINE, rows, x, x_stride, tokens, sums);
}

/* y [tokens] = the totals of a row's sums. */
INLINE void split_store(const vf *sums, const int tokens, float *y, int64_t y_stride) {
    float of[SPLIT_TOKENS];
    if (tokens == SPLIT_TOKENS) {
        vf_store_sums(of, sums[0], sums[1], sums[2], sums[3]);
    }
    for (int j = 0; j < tokens; j++) {
        y[j * y_stride] = tokens == SPLIT_TOKENS ? of[j] : vf_sum(sums[j]);
    }
}

/* Multiplies rows r, r + part, ... by tokens t .. t + tokens - 1: memory is then read in a few long streams, which the
 * processor's prefetcher follows better than jumps from row to row. Meanwhile the next elements of each row, or the
 * first of the row below, are prefetched. */
INLINE void split_tile(const struct split_operands *o, int64_t r, int64_t part, const int rows, int64_t t,
                       const int tokens) {
    const uint16_t *w = o->w + r * o->w_stride;
    const int64_t step = part * o->w_stride;
    const float *x = o->x + t * o->x_stride;
    vf sums[SPLIT_ROWS][SPLIT_TOKENS];
    int64_t k = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < tokens; j++) {
            sums[i][j] = vf_zero();
        }
    }
    for (; k + SPLIT_LINE <= o->columns; k += SPLIT_LINE) {
        for (int i = 0; i < rows; i++) {
            fetch_far(w + i * step + k + SPLIT_AHEAD);
        }
        split_add(w + k, step, rows, x + k, o->x_stride, tokens, sums);
    }
    if (k < o->columns) {
        split_add_rest(w + k, step, rows, o->columns - k, x + k, o->x_stride, tokens, sums);
    }
    for (int i = 0; i < rows; i++) {
        split_store(sums[i], tokens, o->y + t * o->y_stride + r + i * part, o->y_stride);
    }
}

/* Multiplies some rows by all tokens, in groups of similar size. */
INLINE void split_rows(const struct split_operands *o, int64_t r, int64_t part, const int rows, int64_t tokens) {
    for (int64_t t = 0, times = (tokens + SPLIT_TOKENS - 1) / SPLIT_TOKENS; times > 0; times--) {
        const int64_t n = (tokens - t + times - 1) / times;
        switch (n) {
        case 1:
            split_tile(o, r, part, rows, t, 1);
            break;
        case 2:
            split_tile(o, r, part, rows, t, 2);
            break;
        case 3:
            split_tile(o, r, part, rows, t, 3);
            break;
        default:
            split_tile(o, r, part, rows, t, SPLIT_TOKENS);
            break;
        }
        t += n;
    }
}

static void dot_split(const uint16_t *w, int64_t w_stride, int64_t rows, int64_t columns, const float *x,
                      int64_t x_stride, int64_t tokens, float *y, int64_t y_stride) {
    const struct split_operands o = {w, w_stride, columns, x, x_stride, y, y_stride};
    const int64_t part = rows / SPLIT_ROWS;
    for (int64_t r = 0; r < part; r++) {
        split_rows(&o, r, part, SPLIT_ROWS, tokens);
    }
    for (int64_t r = part * SPLIT_ROWS; r < rows; r++) {
        split_rows(&o, r, 1, 1, tokens);
    }
}

#endif
