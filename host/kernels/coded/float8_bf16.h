/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Few tokens times rows of float8 as products of bf16, for processors that have those (AVX512_BF16, VBMI):
 * coded.h's `prepared`. Codes become bf16, which holds them exactly, in three operations for 32 of them; inputs
 * are rounded and lie in the order that this gives. Part of loops.h.
 *
 * Lanes have sums of their own until the end, over groups and the inputs in each, in their order: nothing depends on
 * the number of tokens, threads or rows.
 */
#ifndef GRAFT_KERNELS_CODED_ROUNDED_H
#define GRAFT_KERNELS_CODED_ROUNDED_H

#include "kernels/coded/factors.h"

/* Codes are done a cache line at a time: so many vectors of bf16. */
enum { GRAFT_ROW_ROUNDED_VECTORS = 2 };

/* Rows and tokens that are multiplied side by side, and the inputs as prepared. */
struct graft_row_rounded_tile {
    const struct graft_coded *self;        /* whose they are */
    struct graft_row rows[GRAFT_ROW_MOST]; /* the first n_rows */
    int64_t part;                          /* outputs from one to the next */
    const uint32_t *numbers;               /* [n_tokens, columns / 2] */
};

GRAFT_ASSERT_SIZE(struct graft_row_rounded_tile, 152);

#if defined(__AVX512BF16__)

/* [any] A line of F8_E4M3 as bf16: both bytes of a number are looked up; it has the sign, the exponent less 7 plus 127,
 * and all digits. The first eight are the numbers below 2^-6, the last is NaN. Interleaving bytes goes by quarters of a
 * register: 8 bytes of each for one vector, 8 for the other. */
GRAFT_ROW_INLINE void graft_row_rounded_decode(const unsigned char *codes, __m512i numbers[GRAFT_ROW_ROUNDED_VECTORS]) {
#define GRAFT_ROW_SIXTEEN(b) b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b
#define GRAFT_ROW_DIGITS 0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0, 0xf0
    static const unsigned char upper_bytes[128] = {0x00,
                                                   0x3b,
                                                   0x3b,
                                                   0x3b,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   0x3c,
                                                   GRAFT_ROW_SIXTEEN(0x3d),
                                                   GRAFT_ROW_SIXTEEN(0x3e),
                                                   GRAFT_ROW_SIXTEEN(0x3f),
                                                   GRAFT_ROW_SIXTEEN(0x40),
                                                   GRAFT_ROW_SIXTEEN(0x41),
                                                   GRAFT_ROW_SIXTEEN(0x42),
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x43,
                                                   0x7f};
    static const unsigned char lower_bytes[128] = {0x00,
                                                   0x00,
                                                   0x80,
                                                   0xc0,
                                                   0x00,
                                                   0x20,
                                                   0x40,
                                                   0x60,
                                                   0x80,
                                                   0x90,
                                                   0xa0,
                                                   0xb0,
                                                   0xc0,
                                                   0xd0,
                                                   0xe0,
                                                   0xf0,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS,
                                                   GRAFT_ROW_DIGITS};
#undef GRAFT_ROW_SIXTEEN
#undef GRAFT_ROW_DIGITS
    const __m512i line = _mm512_loadu_si512(codes), sign = _mm512_set1_epi8((char)0x80);
    const __m512i upper = _mm512_permutex2var_epi8(_mm512_loadu_si512(upper_bytes), line,
                                                   _mm512_loadu_si512(upper_bytes + GRAFT_ROW_LINE));
    const __m512i lower = _mm512_permutex2var_epi8(_mm512_loadu_si512(lower_bytes), line,
                                                   _mm512_loadu_si512(lower_bytes + GRAFT_ROW_LINE));
    const __m512i signed_upper = _mm512_or_si512(upper, _mm512_and_si512(line, sign));
    numbers[0] = _mm512_unpacklo_epi8(lower, signed_upper);
    numbers[1] = _mm512_unpackhi_epi8(lower, signed_upper);
}

/* [any] Inputs of a line that are in half h of each lane of vector v. */
GRAFT_ROW_INLINE __m512i graft_row_rounded_order(int v, int h) {
    int32_t inputs[GRAFT_ROW_LANES];
    for (int l = 0; l < GRAFT_ROW_LANES; l++) {
        inputs[l] = 2 * l + l / 4 * 8 + 8 * v + h;
    }
    return _mm512_loadu_si512(inputs);
}

/* [any] graft_coded_prepared.size. */
GRAFT_ROW_INLINE int64_t graft_row_rounded_size(const struct graft_coded *self) {
    const int64_t in = self->columns;
    return self->group_of == NULL && in % GRAFT_ROW_LINE == 0 && self->group_size % GRAFT_ROW_LINE == 0 ? 2 * in : 0;
}

/* [any] graft_coded_prepared.prepare. */
GRAFT_ROW_INLINE void graft_row_rounded_prepare(const struct graft_coded *self, const float *x, void *inputs) {
    uint32_t *numbers = (uint32_t *)inputs;
    for (int64_t i = 0; i < self->columns; i += GRAFT_ROW_LINE) {
        for (int v = 0; v < GRAFT_ROW_ROUNDED_VECTORS; v++, numbers += GRAFT_ROW_LANES) {
            __m512i halves[2];
            for (int h = 0; h < 2; h++) {
                const __m512 some = _mm512_i32gather_ps(graft_row_rounded_order(v, h), x + i, 4);
                halves[h] = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(some));
            }
            _mm512_storeu_si512(numbers, _mm512_or_si512(halves[0], _mm512_slli_epi32(halves[1], 16)));
        }
    }
}

/* [any] sums [n_tokens][n_rows] += line `at` of a tile. */
GRAFT_ROW_INLINE void graft_row_rounded_line(const struct graft_row_rounded_tile *tile, const int n_rows,
                                             const int n_tokens, const int is_near, int64_t at,
                                             __m512 sums[][GRAFT_ROW_MOST]) {
    for (int r = 0; r < n_rows; r++) {
        const unsigned char *codes = tile->rows[r].codes + at * GRAFT_ROW_LINE;
        __m512i numbers[GRAFT_ROW_ROUNDED_VECTORS];
        graft_row_prefetch(codes, is_near);
        graft_row_rounded_decode(codes, numbers);
        for (int t = 0; t < n_tokens; t++) {
            const uint32_t *inputs =
                tile->numbers + t * (tile->self->columns / 2) + at * GRAFT_ROW_ROUNDED_VECTORS * GRAFT_ROW_LANES;
            for (int v = 0; v < GRAFT_ROW_ROUNDED_VECTORS; v++) {
                sums[t][r] = _mm512_dpbf16_ps(sums[t][r], (__m512bh)numbers[v],
                                              (__m512bh)_mm512_loadu_si512(inputs + (ptrdiff_t)v * GRAFT_ROW_LANES));
            }
        }
    }
}

/* [any] totals [n_tokens][n_rows] += lines [at, end), a group whose scales these are. */
GRAFT_ROW_INLINE void graft_row_rounded_group(const struct graft_row_rounded_tile *tile,
                                              const struct graft_row_factors *factors, const int n_rows,
                                              const int n_tokens, const int is_near, int64_t group, int64_t at,
                                              int64_t end, __m512 totals[][GRAFT_ROW_MOST]) {
    __m512 sums[GRAFT_ROW_TOKENS][GRAFT_ROW_MOST] = {{{0}}};
    for (; at < end; at++) {
        graft_row_rounded_line(tile, n_rows, n_tokens, is_near, at, sums);
    }
    for (int r = 0; r < n_rows; r++) {
        const __m512 scale = _mm512_set1_ps(factors->scales[r][group]);
        for (int t = 0; t < n_tokens; t++) {
            totals[t][r] = _mm512_fmadd_ps(sums[t][r], scale, totals[t][r]);
        }
    }
}

/* [any] y of a tile. Counts are constants. */
GRAFT_ROW_INLINE void graft_row_rounded_multiply(const struct graft_row_rounded_tile *tile, const int n_rows,
                                                 const int n_tokens, const int is_near, float *y) {
    const struct graft_coded *self = tile->self;
    const int64_t lines = self->group_size / GRAFT_ROW_LINE, all = self->columns / GRAFT_ROW_LINE;
    __m512 totals[GRAFT_ROW_TOKENS][GRAFT_ROW_MOST] = {{{0}}};
    struct graft_row_factors factors;
    for (int64_t first = 0; first < self->groups; first += GRAFT_ROW_GROUPS) {
        const int64_t n = graft_coded_left(self->groups, first, GRAFT_ROW_GROUPS);
        graft_row_factors_at(self, tile->rows, n_rows, first, n, &factors);
        for (int64_t g = 0; g < n; g++) {
            const int64_t at = (first + g) * lines, end = at + graft_coded_left(all, at, lines);
            graft_row_rounded_group(tile, &factors, n_rows, n_tokens, is_near, g, at, end, totals);
        }
    }
    for (int t = 0; t < n_tokens; t++) {
        for (int r = 0; r < n_rows; r++) {
            y[t * self->y_stride + r * tile->part] = graft_row_sum((graft_row_floats)totals[t][r]);
        }
    }
}

/* [any] y of n rows and `n_tokens` tokens: tiles of `n_rows`, then what is left one by one. */
GRAFT_ROW_INLINE void graft_row_rounded_rows(const struct graft_coded *self, const uint32_t *numbers, const int n_rows,
                                             const int n_tokens, const int is_near, int64_t first, int64_t n,
                                             float *y) {
    struct graft_row_rounded_tile tile;
    tile.self = self;
    tile.part = n / n_rows;
    tile.numbers = numbers;
    for (int64_t at = 0; at < tile.part; at++) {
        graft_row_each_part(self, first + at, tile.part, n_rows, tile.rows);
        graft_row_rounded_multiply(&tile, n_rows, n_tokens, is_near, y + at);
    }
    for (int64_t at = tile.part * n_rows; at < n; at++) {
        tile.rows[0] = graft_row_at(self, first + at);
        graft_row_rounded_multiply(&tile, 1, n_tokens, is_near, y + at);
    }
}

/* [any] Any number of tokens, with codes fetched near or not: a constant. Near, fewer rows are read faster. */
GRAFT_ROW_INLINE void graft_row_rounded_tokens(const struct graft_coded *self, const int is_near, int64_t first,
                                               int64_t n, const uint32_t *numbers, int64_t tokens, float *y) {
    const int64_t in = self->columns, out = self->y_stride;
    int64_t t = 0;
    for (; t + GRAFT_ROW_TOKENS <= tokens; t += GRAFT_ROW_TOKENS) {
        graft_row_rounded_rows(self, numbers + t * (in / 2), GRAFT_ROW_SHARED, GRAFT_ROW_TOKENS, is_near, first, n,
                               y + t * out);
    }
    for (; t < tokens; t++) {
        graft_row_rounded_rows(self, numbers + t * (in / 2), is_near ? GRAFT_ROW_NEAR_ROWS : GRAFT_ROW_MOST, 1, is_near,
                               first, n, y + t * out);
    }
}

/* [any] graft_coded_prepared.multiply. */
GRAFT_ROW_INLINE void graft_row_rounded_all(const struct graft_coded *self, int64_t first, int64_t n,
                                            const void *inputs, int64_t tokens, float *y) {
    const uint32_t *numbers = (const uint32_t *)inputs;
    if (graft_row_is_near()) {
        graft_row_rounded_tokens(self, 1, first, n, numbers, tokens, y);
    } else {
        graft_row_rounded_tokens(self, 0, first, n, numbers, tokens, y);
    }
}

/* Defines format##_prepared. */
#define GRAFT_ROW_ROUNDED(format)                                                                                      \
    GRAFT_ROW_PREPARED_AS(format##_prepared, graft_row_rounded_size(self), graft_row_rounded_prepare(self, x, inputs), \
                          graft_row_rounded_all(self, first, n, inputs, tokens, y))

#endif

#endif
