/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Few tokens times rows of codes as products of f32, for AVX2: packed_rows.h's `prepared`. A line of codes is unpacked
 * where it lies in its register, in two or three operations for eight of them, and inputs lie in the order that this
 * gives, scaled to fit by powers of two. Part of packed_rows_loops.h.
 *
 * Each row has a vector of sums for each token, over groups and the inputs in each, in their order: nothing depends on
 * the number of tokens, threads or rows.
 */
#ifndef GRAFT_PACKED_ROWS_LINES_H
#define GRAFT_PACKED_ROWS_LINES_H

#include "packed_rows_loops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of codes that are unpacked together, the most vectors that these are, and the vectors of sums that a tile has:
 * so many rows and one token, or fewer rows and four. */
enum { GRAFT_ROW_LINES_BYTES = 32, GRAFT_ROW_LINES_MOST = 8, GRAFT_ROW_LINES_SUMS = 8 };

/* What a kind of codes defines. */
struct graft_row_lines {
    int32_t vectors;                     /* of a line: 8 of codes of 4 bits, 4 of float8 */
    int32_t lane;                        /* inputs from one lane to the next */
    int32_t first[GRAFT_ROW_LINES_MOST]; /* of each vector */
    float factors[GRAFT_ROW_LINES_MOST]; /* what its inputs are multiplied by */
};

/* Rows that are multiplied side by side, and the inputs as prepared. */
struct graft_row_lines_tile {
    const struct graft_packed_rows *self;        /* whose they are */
    struct graft_row rows[GRAFT_ROW_LINES_SUMS]; /* the first n_rows */
    int64_t part;                                /* outputs from one to the next */
    const float *numbers;                        /* [n_tokens, in_features] */
    const float *sums;                           /* [n_tokens, in_features / 8], of which units have their lanes */
};

GRAFT_ASSERT_SIZE(struct graft_row_lines, 72);
GRAFT_ASSERT_SIZE(struct graft_row_lines_tile, 288);

#if defined(__AVX2__) && !defined(__AVX512F__)

/* Code k of a word is 16^k times as large, but for the last, where the sign would be. */
#define GRAFT_ROW_LINES_UINT4                                                                       \
    {                                                                                               \
        8, 8, {0, 1, 2, 3, 4, 5, 6, 7}, {                                                           \
            1, 1 / 16.0F, 1 / 256.0F, 1 / 4096.0F, 1 / 65536.0F, 1 / 1048576.0F, 1 / 16777216.0F, 1 \
        }                                                                                           \
    }

/* Even bytes, the first half of them and the second, then odd ones; by way of f16, which is 256 times too small. */
#define GRAFT_ROW_LINES_FLOAT8  \
    {                           \
        4, 2, {0, 16, 1, 17}, { \
            256, 256, 256, 256  \
        }                       \
    }

/* [any] Vector v of a line: a constant. */
GRAFT_ROW_INLINE __m256 graft_row_lines_uint4(__m256i line, const int v) {
    const __m256i code = v == 7 ? _mm256_srli_epi32(line, 28)
                                : _mm256_and_si256(line, _mm256_set1_epi32((int)(15U << 4 * (v < 7 ? v : 0))));
    return _mm256_cvtepi32_ps(code);
}

/* [any] Even (v 0) or odd (v 1) bytes of a line as f16, exponents less 8: NaN counts as 1.875. */
GRAFT_ROW_INLINE __m256i graft_row_lines_halves(__m256i line, const int v) {
    const __m256i upper = v == 0 ? _mm256_slli_epi16(line, 8) : line;
    return _mm256_and_si256(_mm256_srai_epi16(upper, 1), _mm256_set1_epi16((short)0xbf80));
}

/* [any] Codes of float8 that are NaN make a byte of `nan` 0xff. */
GRAFT_ROW_INLINE __m256i graft_row_lines_nan(__m256i nan, __m256i line) {
    return _mm256_max_epu8(nan, _mm256_or_si256(line, _mm256_set1_epi8((char)0x80)));
}

/* [any] Inputs of a line, and those that have their sums scaled together: a group, or the groups that a line has. */
GRAFT_ROW_INLINE int64_t graft_row_lines_inputs(const struct graft_row_lines *format) {
    return (int64_t)format->vectors * GRAFT_ROW_LANES;
}

/* [any] Likewise. */
GRAFT_ROW_INLINE int64_t graft_row_lines_unit(const struct graft_packed_rows *self, int64_t line) {
    return self->group_size < line ? line : self->group_size;
}

/* [any] graft_packed_rows_prepared.fits. */
GRAFT_ROW_INLINE int32_t graft_row_lines_fits(const struct graft_packed_rows *self,
                                              const struct graft_row_lines *format) {
    const int64_t line = graft_row_lines_inputs(format);
    const int shares = self->bits == 4 && (self->group_size == line / 4 || self->group_size == line / 2);
    return self->group_of == NULL && self->in_features % line == 0 && (self->group_size % line == 0 || shares);
}

/* [any] graft_packed_rows_prepared.prepare. */
GRAFT_ROW_INLINE void graft_row_lines_prepare(const struct graft_packed_rows *self,
                                              const struct graft_row_lines *format, const float *x, float *numbers,
                                              float *sums) {
    const int64_t line = graft_row_lines_inputs(format), unit = graft_row_lines_unit(self, line);
    const __m256i lanes =
        _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(format->lane));
    for (int64_t i = 0; i < self->in_features; sums += GRAFT_ROW_LANES) {
        const int64_t end = i + graft_packed_left(self->in_features, i, unit);
        __m256 sum = _mm256_setzero_ps();
        for (; i < end; i += line) {
            for (int v = 0; v < format->vectors; v++, numbers += GRAFT_ROW_LANES) {
                const __m256 inputs = _mm256_i32gather_ps(x + i + format->first[v], lanes, 4);
                _mm256_storeu_ps(numbers, _mm256_mul_ps(inputs, _mm256_set1_ps(format->factors[v])));
                sum = _mm256_add_ps(sum, inputs);
            }
        }
        if (self->bits == 4) {
            _mm256_storeu_ps(sums, sum);
        }
    }
}

/* [any] The `many` numbers of a unit's groups, each in as many lanes. */
GRAFT_ROW_INLINE __m256 graft_row_lines_spread(const float *numbers, const int many) {
    return many == 1   ? _mm256_set1_ps(numbers[0])
           : many == 2 ? _mm256_setr_ps(numbers[0], numbers[0], numbers[0], numbers[0], numbers[1], numbers[1],
                                        numbers[1], numbers[1])
                       : _mm256_setr_ps(numbers[0], numbers[0], numbers[1], numbers[1], numbers[2], numbers[2],
                                        numbers[3], numbers[3]);
}

/* [any] The scale of a row's group. */
GRAFT_ROW_INLINE float graft_row_lines_scale(const struct graft_row *row, int64_t group) {
    const uint16_t *halves = (const uint16_t *)row->scales->data + row->scale + group;
    return row->scales->dtype == GRAFT_DTYPE_F16 ? _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(*halves)))
                                                 : graft_row_scale(row, group);
}

/* [any] totals [n_tokens] += what a unit's sums come to, of a row. */
GRAFT_ROW_INLINE void graft_row_lines_add(const struct graft_row_lines_tile *tile, const int bits, int r,
                                          const int n_tokens, const int many, int64_t unit, const __m256 *sums,
                                          __m256 *totals) {
    const struct graft_packed_rows *self = tile->self;
    float scales[4], zeros[4];
    for (int g = 0; g < many; g++) {
        scales[g] = graft_row_lines_scale(&tile->rows[r], unit * many + g);
        zeros[g] = bits == 4 ? graft_row_zero(self, &tile->rows[r], unit * many + g) : 0.0F;
    }
    for (int t = 0; t < n_tokens; t++) {
        __m256 sum = sums[t];
        if (bits == 4) {
            const float *inputs = tile->sums + t * (self->in_features / 8) + unit * GRAFT_ROW_LANES;
            sum = _mm256_fnmadd_ps(graft_row_lines_spread(zeros, many), _mm256_loadu_ps(inputs), sum);
        }
        totals[t] = _mm256_fmadd_ps(sum, graft_row_lines_spread(scales, many), totals[t]);
    }
}

/* [any] sums [n_tokens] += a line of a row. */
GRAFT_ROW_INLINE void graft_row_lines_step(const float *numbers, int64_t stride, const int bits, const int n_tokens,
                                           __m256i line, __m256 *sums) {
    for (int h = 0; bits == 8 && h < 2; h++) {
        const __m256i halves = graft_row_lines_halves(line, h);
        const __m256 lower = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
        const __m256 upper = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
        for (int t = 0; t < n_tokens; t++) {
            const float *x = numbers + t * stride + (ptrdiff_t)2 * h * GRAFT_ROW_LANES;
            sums[t] = _mm256_fmadd_ps(lower, _mm256_loadu_ps(x), sums[t]);
            sums[t] = _mm256_fmadd_ps(upper, _mm256_loadu_ps(x + GRAFT_ROW_LANES), sums[t]);
        }
    }
    for (int v = 0; bits == 4 && v < 8; v++) {
        const __m256 codes = graft_row_lines_uint4(line, v);
        for (int t = 0; t < n_tokens; t++) {
            const float *x = numbers + t * stride + (ptrdiff_t)v * GRAFT_ROW_LANES;
            sums[t] = _mm256_fmadd_ps(codes, _mm256_loadu_ps(x), sums[t]);
        }
    }
}

/* [any] y of a tile; `many` groups are in a unit. Counts are constants. */
GRAFT_ROW_INLINE void graft_row_lines_multiply(const struct graft_row_lines_tile *tile, const int bits,
                                               const int n_rows, const int n_tokens, const int many, float *y) {
    const struct graft_packed_rows *self = tile->self;
    const int64_t line = GRAFT_ROW_LINES_BYTES * 8 / bits, unit = graft_row_lines_unit(self, line);
    const int64_t stride = self->in_features;
    __m256 totals[GRAFT_ROW_LINES_SUMS] = {{0}}; /* [n_rows, n_tokens] */
    __m256i nan[GRAFT_ROW_LINES_SUMS] = {{0}};
    for (int64_t u = 0; u * unit < self->in_features; u++) {
        const int64_t begin = u * unit, end = begin + graft_packed_left(self->in_features, begin, unit);
        __m256 sums[GRAFT_ROW_LINES_SUMS];
        for (int s = 0; s < n_rows * n_tokens; s++) {
            sums[s] = _mm256_setzero_ps();
        }
        for (int64_t i = begin; i < end; i += line) {
            for (int r = 0; r < n_rows; r++) {
                const unsigned char *codes = tile->rows[r].codes + i * bits / 8;
                const __m256i words = _mm256_loadu_si256((const __m256i *)(const void *)codes);
                if (i * bits / 8 % GRAFT_ROW_LINE == 0) {
                    graft_row_prefetch(codes);
                }
                nan[r] = bits == 8 ? graft_row_lines_nan(nan[r], words) : nan[r];
                graft_row_lines_step(tile->numbers + i, stride, bits, n_tokens, words, sums + r * n_tokens);
            }
        }
        for (int r = 0; r < n_rows; r++) {
            graft_row_lines_add(tile, bits, r, n_tokens, many, u, sums + r * n_tokens, totals + r * n_tokens);
        }
    }
    for (int r = 0; r < n_rows; r++) {
        const int is_nan = _mm256_movemask_epi8(_mm256_cmpeq_epi8(nan[r], _mm256_set1_epi8(-1))) != 0;
        for (int t = 0; t < n_tokens; t++) {
            y[t * self->out_features + r * tile->part] =
                is_nan ? NAN : graft_row_sum((graft_row_floats)totals[r * n_tokens + t]);
        }
    }
}

/* [any] y of n rows and `n_tokens` tokens: tiles of `n_rows`, then what is left one by one. */
GRAFT_ROW_INLINE void graft_row_lines_rows(const struct graft_packed_rows *self, const float *numbers,
                                           const float *sums, const int bits, const int n_rows, const int n_tokens,
                                           const int many, int64_t first, int64_t n, float *y) {
    struct graft_row_lines_tile tile;
    tile.self = self;
    tile.part = n / n_rows;
    tile.numbers = numbers;
    tile.sums = sums;
    for (int64_t at = 0; at < tile.part; at++) {
        graft_row_each_part(self, first + at, tile.part, n_rows, tile.rows);
        graft_row_lines_multiply(&tile, bits, n_rows, n_tokens, many, y + at);
    }
    for (int64_t at = tile.part * n_rows; at < n; at++) {
        tile.rows[0] = graft_row_at(self, first + at);
        graft_row_lines_multiply(&tile, bits, 1, n_tokens, many, y + at);
    }
}

/* [any] Any number of tokens. */
GRAFT_ROW_INLINE void graft_row_lines_tokens(const struct graft_packed_rows *self, const float *numbers,
                                             const float *sums, int64_t tokens, const int bits, const int many,
                                             int64_t first, int64_t n, float *y) {
    const int64_t in = self->in_features;
    int64_t t = 0;
    for (; t + GRAFT_ROW_TOKENS <= tokens; t += GRAFT_ROW_TOKENS) {
        graft_row_lines_rows(self, numbers + t * in, sums + t * (in / 8), bits, GRAFT_ROW_LINES_SUMS / GRAFT_ROW_TOKENS,
                             GRAFT_ROW_TOKENS, many, first, n, y + t * self->out_features);
    }
    for (; t < tokens; t++) {
        graft_row_lines_rows(self, numbers + t * in, sums + t * (in / 8), bits, GRAFT_ROW_LINES_SUMS, 1, many, first, n,
                             y + t * self->out_features);
    }
}

/* [any] graft_packed_rows_prepared.multiply. */
GRAFT_ROW_INLINE void graft_row_lines_all(const struct graft_packed_rows *self, const struct graft_row_lines *format,
                                          int64_t first, int64_t n, const float *numbers, const float *sums,
                                          int64_t tokens, float *y) {
    const int64_t line = graft_row_lines_inputs(format);
    if (format->vectors == 4) {
        graft_row_lines_tokens(self, numbers, sums, tokens, 8, 1, first, n, y);
    } else if (self->group_size % line == 0) {
        graft_row_lines_tokens(self, numbers, sums, tokens, 4, 1, first, n, y);
    } else if (self->group_size == line / 2) {
        graft_row_lines_tokens(self, numbers, sums, tokens, 4, 2, first, n, y);
    } else {
        graft_row_lines_tokens(self, numbers, sums, tokens, 4, 4, first, n, y);
    }
}

/* Defines what a format's table points to, format##_prepared, for a kind of codes above. */
#define GRAFT_ROW_PREPARED(format, kind)                                                                             \
    static const struct graft_row_lines format##_lines = GRAFT_ROW_LINES_##kind;                                     \
    static int32_t format##_fits(const struct graft_packed_rows *self) {                                             \
        return graft_row_lines_fits(self, &format##_lines);                                                          \
    }                                                                                                                \
    static void format##_prepare(const struct graft_packed_rows *self, const float *x, void *numbers, float *sums) { \
        graft_row_lines_prepare(self, &format##_lines, x, (float *)numbers, sums);                                   \
    }                                                                                                                \
    static void format##_multiply_prepared(const struct graft_packed_rows *self, int64_t first, int64_t n,           \
                                           const void *numbers, const float *sums, int64_t tokens, float *y) {       \
        graft_row_lines_all(self, &format##_lines, first, n, (const float *)numbers, sums, tokens, y);               \
    }                                                                                                                \
    static const struct graft_packed_rows_prepared format##_prepared = {1, format##_fits, format##_prepare,          \
                                                                        format##_multiply_prepared};

#endif

#ifdef __cplusplus
}
#endif

#endif
