/* SPDX-License-Identifier: Apache-2.0 */
/* Multiplies a small number of tokens by rows of float8, as f32 products, for AVX2: `prepared` of coded.h. A line of
 * codes is converted to f16 within its register; inputs are arranged in the order that this conversion gives, and
 * multiplied by 256, because the f16 numbers are 256 times too small. Part of loops.h.
 *
 * Each row has a vector of sums for each token, over groups and the inputs in each, in order. Results do not depend on
 * the number of tokens, threads or rows. */
#ifndef GRAFT_KERNELS_CODED_LINES_H
#define GRAFT_KERNELS_CODED_LINES_H

#include <math.h>

#include "kernels/coded/loops.h"

/* Bytes of codes that are unpacked together; the vectors that they become; and the number of vectors of sums in a tile:
 * that many rows for a single token, or fewer rows for four tokens. */
enum { GRAFT_ROW_LINES_BYTES = 32, GRAFT_ROW_LINES_VECTORS = 4, GRAFT_ROW_LINES_SUMS = 8 };

/* Rows that are multiplied together, with prepared inputs. */
struct graft_row_lines_tile {
    const struct graft_coded *self;              /* the weight */
    struct graft_row rows[GRAFT_ROW_LINES_SUMS]; /* the first `n_rows` of them */
    int64_t part;                                /* distance of the rows, in outputs */
    const float *numbers;                        /* [n_tokens, columns] */
};

GRAFT_ASSERT_SIZE(struct graft_row_lines_tile, 280);

#if defined(__AVX2__) && !defined(__AVX512F__)

/* [any] Converts even (v 0) or odd (v 1) bytes of a line to f16, with exponents 8 too small; NaN becomes 1.875. */
GRAFT_ROW_INLINE __m256i graft_row_lines_halves(__m256i line, const int v) {
    const __m256i upper = v == 0 ? _mm256_slli_epi16(line, 8) : line;
    return _mm256_and_si256(_mm256_srai_epi16(upper, 1), _mm256_set1_epi16((short)0xbf80));
}

/* [any] Sets the bytes of `nan` to 0xff where codes of float8 are NaN. */
GRAFT_ROW_INLINE __m256i graft_row_lines_nan(__m256i nan, __m256i line) {
    return _mm256_max_epu8(nan, _mm256_or_si256(line, _mm256_set1_epi8((char)0x80)));
}

/* [any] graft_coded_prepared.size. */
GRAFT_ROW_INLINE int64_t graft_row_lines_size(const struct graft_coded *self) {
    const int whole = self->columns % GRAFT_ROW_LINES_BYTES == 0 && self->group_size % GRAFT_ROW_LINES_BYTES == 0;
    return self->group_of == NULL && whole ? self->columns * (int64_t)sizeof(float) : 0;
}

/* [any] Implements `prepare`: arranges the even inputs of a line, first half before second half, then the odd ones. */
GRAFT_ROW_INLINE void graft_row_lines_prepare(const struct graft_coded *self, const float *x, void *inputs) {
    static const int32_t first[GRAFT_ROW_LINES_VECTORS] = {0, 16, 1, 17};
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
    float *numbers = (float *)inputs;
    for (int64_t i = 0; i < self->columns; i += GRAFT_ROW_LINES_BYTES) {
        for (int v = 0; v < GRAFT_ROW_LINES_VECTORS; v++, numbers += GRAFT_ROW_LANES) {
            const __m256 some = _mm256_i32gather_ps(x + i + first[v], even, 4);
            _mm256_storeu_ps(numbers, _mm256_mul_ps(some, _mm256_set1_ps(256.0F)));
        }
    }
}

/* [any] sums [n_tokens] += the products of a line of one row. */
GRAFT_ROW_INLINE void graft_row_lines_step(const float *numbers, int64_t stride, const int n_tokens, __m256i line,
                                           __m256 *sums) {
    for (int h = 0; h < 2; h++) {
        const __m256i halves = graft_row_lines_halves(line, h);
        const __m256 lower = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
        const __m256 upper = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
        for (int t = 0; t < n_tokens; t++) {
            const float *x = numbers + t * stride + (ptrdiff_t)2 * h * GRAFT_ROW_LANES;
            sums[t] = _mm256_fmadd_ps(lower, _mm256_loadu_ps(x), sums[t]);
            sums[t] = _mm256_fmadd_ps(upper, _mm256_loadu_ps(x + GRAFT_ROW_LANES), sums[t]);
        }
    }
}

/* [any] Computes y of a tile. Counts are compile-time constants. */
GRAFT_ROW_INLINE void graft_row_lines_multiply(const struct graft_row_lines_tile *tile, const int n_rows,
                                               const int n_tokens, float *y) {
    const struct graft_coded *self = tile->self;
    const int64_t line = GRAFT_ROW_LINES_BYTES, stride = self->columns;
    __m256 totals[GRAFT_ROW_LINES_SUMS] = {{0}}; /* [n_rows, n_tokens] */
    __m256i nan[GRAFT_ROW_LINES_SUMS] = {{0}};
    for (int64_t group = 0; group < self->groups; group++) {
        const int64_t begin = group * self->group_size;
        const int64_t end = begin + graft_coded_left(self->columns, begin, self->group_size);
        __m256 sums[GRAFT_ROW_LINES_SUMS];
        for (int s = 0; s < n_rows * n_tokens; s++) {
            sums[s] = _mm256_setzero_ps();
        }
        for (int64_t i = begin; i < end; i += line) {
            for (int r = 0; r < n_rows; r++) {
                const unsigned char *codes = tile->rows[r].codes + i;
                const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)codes);
                if (i % GRAFT_ROW_LINE == 0) {
                    graft_row_prefetch(codes, 0);
                }
                nan[r] = graft_row_lines_nan(nan[r], bytes);
                graft_row_lines_step(tile->numbers + i, stride, n_tokens, bytes, sums + r * n_tokens);
            }
        }
        for (int s = 0; s < n_rows * n_tokens; s++) {
            const __m256 scale = _mm256_set1_ps(graft_row_scale(self, &tile->rows[s / n_tokens], group));
            totals[s] = _mm256_fmadd_ps(sums[s], scale, totals[s]);
        }
    }
    for (int r = 0; r < n_rows; r++) {
        const int is_nan = _mm256_movemask_epi8(_mm256_cmpeq_epi8(nan[r], _mm256_set1_epi8(-1))) != 0;
        for (int t = 0; t < n_tokens; t++) {
            y[t * self->y_stride + r * tile->part] =
                is_nan ? NAN : graft_row_sum((graft_row_floats)totals[r * n_tokens + t]);
        }
    }
}

/* [any] Computes y of n rows and `n_tokens` tokens: tiles of `n_rows` rows, then the remaining rows one by one. */
GRAFT_ROW_INLINE void graft_row_lines_rows(const struct graft_coded *self, const float *numbers, const int n_rows,
                                           const int n_tokens, int64_t first, int64_t n, float *y) {
    struct graft_row_lines_tile tile;
    tile.self = self;
    tile.part = n / n_rows;
    tile.numbers = numbers;
    for (int64_t at = 0; at < tile.part; at++) {
        graft_row_each_part(self, first + at, tile.part, n_rows, tile.rows);
        graft_row_lines_multiply(&tile, n_rows, n_tokens, y + at);
    }
    for (int64_t at = tile.part * n_rows; at < n; at++) {
        tile.rows[0] = graft_row_at(self, first + at);
        graft_row_lines_multiply(&tile, 1, n_tokens, y + at);
    }
}

/* [any] graft_coded_prepared.multiply. */
GRAFT_ROW_INLINE void graft_row_lines_all(const struct graft_coded *self, int64_t first, int64_t n, const void *inputs,
                                          int64_t tokens, float *y) {
    const float *numbers = (const float *)inputs;
    const int64_t in = self->columns;
    int64_t t = 0;
    for (; t + GRAFT_ROW_TOKENS <= tokens; t += GRAFT_ROW_TOKENS) {
        graft_row_lines_rows(self, numbers + t * in, GRAFT_ROW_LINES_SUMS / GRAFT_ROW_TOKENS, GRAFT_ROW_TOKENS, first,
                             n, y + t * self->y_stride);
    }
    for (; t < tokens; t++) {
        graft_row_lines_rows(self, numbers + t * in, GRAFT_ROW_LINES_SUMS, 1, first, n, y + t * self->y_stride);
    }
}

/* Defines format##_prepared. */
#define GRAFT_ROW_LINES(format)                                                                                    \
    GRAFT_ROW_PREPARED_AS(format##_prepared, graft_row_lines_size(self), graft_row_lines_prepare(self, x, inputs), \
                          graft_row_lines_all(self, first, n, inputs, tokens, y))

#endif

#endif
