/* SPDX-License-Identifier: Apache-2.0 */
/* Few tokens times rows of float8, as bf16 products, for processors that have them (AVX512_BF16, VBMI): `prepared` of
 * coded.h. Converting 32 codes to bf16, which is exact, takes three instructions; inputs are rounded, and arranged in
 * the order that the conversion gives. Part of loops.h.
 *
 * Each lane has its own sum until the end, over groups and the inputs in each, in order. Results do not depend on the
 * number of tokens, threads or rows. */
#ifndef GRAFT_KERNELS_CODED_ROUNDED_H
#define GRAFT_KERNELS_CODED_ROUNDED_H

#include "kernels/coded/factors.h"

/* Vectors of bf16 in a line: codes are processed one cache line at a time. */
enum { GRAFT_ROW_ROUNDED_VECTORS = 2 };

/* Rows and tokens that are multiplied together, with prepared inputs. */
struct graft_row_rounded_tile {
    const struct graft_coded *self;        /* the weight */
    struct graft_row rows[GRAFT_ROW_MOST]; /* the first `n_rows` of them */
    int64_t part;                          /* distance of the rows, in outputs */
    const uint32_t *numbers;               /* [n_tokens, columns / 2] */
};

GRAFT_ASSERT_SIZE(struct graft_row_rounded_tile, 152);

#if defined(__AVX512BF16__)

/* [any] Converts a line of F8_E4M3 to bf16. Both bytes of each number are looked up: sign, exponent - 7 + 127, and all
 * mantissa bits. The first eight entries are the numbers below 2^-6, the last one is NaN. Bytes are interleaved within
 * quarters of a register: 8 bytes of each go to one vector, 8 to the other. */
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
    const __m512i sign = _mm512_set1_epi8((char)0x80);
    __m512i line = _mm512_loadu_si512(codes);
    __asm__("" : "+v"(line)); /* keeps it from being loaded twice: most lines of a file straddle two cache lines */
    const __m512i upper = _mm512_permutex2var_epi8(_mm512_loadu_si512(upper_bytes), line,
                                                   _mm512_loadu_si512(upper_bytes + GRAFT_ROW_LINE));
    const __m512i lower = _mm512_permutex2var_epi8(_mm512_loadu_si512(lower_bytes), line,
                                                   _mm512_loadu_si512(lower_bytes + GRAFT_ROW_LINE));
    const __m512i signed_upper = _mm512_or_si512(upper, _mm512_and_si512(line, sign));
    numbers[0] = _mm512_unpacklo_epi8(lower, signed_upper);
    numbers[1] = _mm512_unpackhi_epi8(lower, signed_upper);
}

/* [any] Indices of the inputs of a line that belong into half h of each lane of vector v. */
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

/* [any] sums [n_tokens][n_rows] += the products of line `at` of a tile. */
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

/* [any] totals [n_tokens][n_rows] += the products of lines [at, end), which are in one group with these scales. */
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

/* [any] Computes y of a tile. Counts are compile-time constants. */
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

/* [any] Computes y of n rows and `n_tokens` tokens: tiles of `n_rows` rows, then the remaining rows one by one. */
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

/* [any] Computes any number of tokens. `is_near`, a compile-time constant, says whether codes are prefetched into the
 * first-level cache, for which fewer rows at a time are faster. */
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
