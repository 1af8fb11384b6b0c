/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of coded.h, for codes that the including file knows how to unpack. That file is compiled once for each
 * instruction set: loops are written with the compiler's vectors (gcc 12, clang), as wide as the target has them. It
 * names a graft_row_unpack (GRAFT_ROW_FUNCTIONS) and perhaps loops with prepared inputs (GRAFT_ROW_PREPARED), and makes
 * a table of them. libgraft-sdk.a has the tables for the kinds in this folder.
 *
 * Sums go over groups and the inputs in each, in order, with one partial sum in each lane. Results do not depend on the
 * number of tokens, threads or rows. */
#ifndef GRAFT_KERNELS_CODED_LOOPS_H
#define GRAFT_KERNELS_CODED_LOOPS_H

#include "kernels/coded/codes.h"

/* The rows and tokens that are multiplied side by side: a single token, or several tokens that share unpacked codes, as
 * many as registers allow. */
enum { GRAFT_ROW_MOST = 4, GRAFT_ROW_TOKENS = 4, GRAFT_ROW_SHARED = GRAFT_ROW_LANES == 16 ? 4 : 2 };

/* [any] Like `unpack`, for a row that ends after n codes; the other lanes are zeros. */
GRAFT_ROW_INLINE graft_row_floats graft_row_unpack_end(graft_row_unpack unpack, int32_t bits,
                                                       const unsigned char *codes, int64_t input, int64_t n, float zero,
                                                       const float *table) {
    unsigned char end[GRAFT_ROW_LANES] = {0};
    memcpy(end, codes + input * bits / 8, (size_t)((n * bits + 7) / 8));
    return unpack(end, 0, zero, table);
}

/* [any] Loads the first n numbers; the other lanes are zeros. */
GRAFT_ROW_INLINE graft_row_floats graft_row_load(const float *x, int64_t n) {
    float numbers[GRAFT_ROW_LANES] = {0};
    graft_row_floats loaded;
    if (n == GRAFT_ROW_LANES) {
        memcpy(&loaded, x, sizeof loaded);
    } else {
        memcpy(numbers, x, (size_t)n * sizeof *x);
        memcpy(&loaded, numbers, sizeof loaded);
    }
    return loaded;
}

/* [any] The sum of all lanes. */
GRAFT_ROW_INLINE float graft_row_sum(graft_row_floats v) {
#if defined(__AVX512F__)
    v += __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
#elif defined(__AVX2__)
    v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
#endif
    return (v[0] + v[1]) + (v[2] + v[3]);
}

/* [any] Finds row `output` and rows `part`, 2 `part`, ... after it, which are multiplied side by side, one from each
 * part of the weight: memory is then read in a few long streams, which the processor's prefetcher follows better than
 * jumps from row to row. */
GRAFT_ROW_INLINE void graft_row_each_part(const struct graft_coded *self, int64_t output, int64_t part, int n_rows,
                                          struct graft_row *rows) {
    for (int r = 0; r < n_rows; r++) {
        rows[r] = graft_row_at(self, output + r * part);
    }
}

/* The distance of prefetching codes in bytes, into the second-level cache, or into the first if that is better
 * (graft_isa_fetches_near). At a row's end, the codes of the row below are prefetched. */
enum { GRAFT_ROW_LINE = 64, GRAFT_ROW_AHEAD = 2048, GRAFT_ROW_NEAR = 3072 };

/* The rows of 8-bit codes that are multiplied by a single token side by side, if codes are prefetched into the
 * first-level cache. */
enum { GRAFT_ROW_NEAR_ROWS = 2 };

/* [any] Prefetches the codes that follow. `is_near` is a compile-time constant, so that the loops need not test it. */
GRAFT_ROW_INLINE void graft_row_prefetch(const unsigned char *codes, const int is_near) {
    if (is_near) {
        __builtin_prefetch((const void *)((uintptr_t)codes + GRAFT_ROW_NEAR), 0, 3);
    } else {
        __builtin_prefetch((const void *)((uintptr_t)codes + GRAFT_ROW_AHEAD), 0, 2);
    }
}

/* [any] Whether codes for a single token are prefetched into the first-level cache; constant in builds that no such
 * processor runs. */
GRAFT_ROW_INLINE int graft_row_is_near(void) {
#if defined(__AVX512BF16__)
    return graft_isa_fetches_near();
#else
    return 0;
#endif
}

/* A tile: some rows times some tokens. */
struct graft_row_tile {
    const struct graft_coded *self;        /* the weight */
    struct graft_row rows[GRAFT_ROW_MOST]; /* the first `n_rows` of them */
    int64_t part;                          /* distance of the rows, in outputs */
    const float *x;                        /* [n_tokens, columns] */
};

GRAFT_ASSERT_SIZE(struct graft_row_tile, 152);

/* [any] sums [n_tokens][n_rows] += inputs [i, i + n) of a tile times weights, n at most the number of lanes. Counts are
 * compile-time constants. */
GRAFT_ROW_INLINE void graft_row_step(const struct graft_row_tile *tile, graft_row_unpack unpack, int n_rows,
                                     int n_tokens, const float *zeros, int64_t i, int64_t n,
                                     graft_row_floats sums[][GRAFT_ROW_MOST]) {
    graft_row_floats weights[GRAFT_ROW_MOST];
    for (int r = 0; r < n_rows; r++) {
        weights[r] = n == GRAFT_ROW_LANES ? unpack(tile->rows[r].codes, i, zeros[r], tile->self->table)
                                          : graft_row_unpack_end(unpack, tile->self->bits, tile->rows[r].codes, i, n,
                                                                 zeros[r], tile->self->table);
    }
    for (int t = 0; t < n_tokens; t++) {
        const graft_row_floats inputs = graft_row_load(tile->x + t * tile->self->x_stride + i, n);
        for (int r = 0; r < n_rows; r++) {
            sums[t][r] = graft_vector_add_product(sums[t][r], weights[r], inputs);
        }
    }
}

/* [any] Computes y of a tile whose groups are of consecutive inputs. */
GRAFT_ROW_INLINE void graft_row_multiply(const struct graft_row_tile *tile, graft_row_unpack unpack, int n_rows,
                                         int n_tokens, float *y) {
    const struct graft_coded *self = tile->self;
    const int64_t line = (int64_t)GRAFT_ROW_LINE * 8 / self->bits; /* a power of two */
    graft_row_floats totals[GRAFT_ROW_TOKENS][GRAFT_ROW_MOST] = {{{0}}};
    for (int64_t group = 0; group < self->groups; group++) {
        graft_row_floats sums[GRAFT_ROW_TOKENS][GRAFT_ROW_MOST] = {{{0}}};
        float zeros[GRAFT_ROW_MOST];
        int64_t i = group * self->group_size;
        const int64_t end = i + self->group_size < self->columns ? i + self->group_size : self->columns;
        for (int r = 0; r < n_rows; r++) {
            zeros[r] = graft_row_zero(self, &tile->rows[r], group);
        }
        for (; i + GRAFT_ROW_LANES <= end; i += GRAFT_ROW_LANES) {
            for (int r = 0; r < n_rows && (i & (line - 1)) < GRAFT_ROW_LANES; r++) {
                graft_row_prefetch(tile->rows[r].codes + i * self->bits / 8, 0);
            }
            graft_row_step(tile, unpack, n_rows, n_tokens, zeros, i, GRAFT_ROW_LANES, sums);
        }
        if (i < end) {
            graft_row_step(tile, unpack, n_rows, n_tokens, zeros, i, end - i, sums);
        }
        for (int r = 0; r < n_rows; r++) {
            const float scale = graft_row_scale(self, &tile->rows[r], group);
            for (int t = 0; t < n_tokens; t++) {
                totals[t][r] = graft_vector_add_product(totals[t][r], sums[t][r], graft_vector_all(scale));
            }
        }
    }
    for (int t = 0; t < n_tokens; t++) {
        for (int r = 0; r < n_rows; r++) {
            y[t * self->y_stride + r * tile->part] = graft_row_sum(totals[t][r]);
        }
    }
}

/* [any] Weights [i, i + n) of a row whose inputs name their groups, n at most the number of lanes; the other lanes are
 * zeros. */
GRAFT_ROW_INLINE graft_row_floats graft_row_scattered(const struct graft_coded *self, graft_row_unpack unpack,
                                                      const struct graft_row *row, int64_t i, int64_t n) {
    float scales[GRAFT_ROW_LANES] = {0}, zeros[GRAFT_ROW_LANES] = {0};
    for (int64_t l = 0; l < n; l++) {
        scales[l] = graft_row_scale(self, row, self->group_of[i + l]);
        zeros[l] = graft_row_zero(self, row, self->group_of[i + l]);
    }
    return (graft_row_unpack_end(unpack, self->bits, row->codes, i, n, 0.0F, self->table) -
            graft_row_load(zeros, GRAFT_ROW_LANES)) *
           graft_row_load(scales, GRAFT_ROW_LANES);
}

/* [any] Computes y of one such row. */
GRAFT_ROW_INLINE void graft_row_multiply_scattered(const struct graft_coded *self, graft_row_unpack unpack,
                                                   int64_t output, const float *x, int64_t tokens, float *y) {
    const struct graft_row row = graft_row_at(self, output);
    for (int64_t t = 0; t < tokens; t++) {
        graft_row_floats total = {0};
        for (int64_t i = 0; i < self->columns; i += GRAFT_ROW_LANES) {
            const int64_t n = graft_coded_left(self->columns, i, GRAFT_ROW_LANES);
            total = graft_vector_add_product(total, graft_row_scattered(self, unpack, &row, i, n),
                                             graft_row_load(x + t * self->x_stride + i, n));
        }
        y[t * self->y_stride] = graft_row_sum(total);
    }
}

/* [any] Computes y of n rows: tiles of `n_rows` rows, then the remaining rows one by one. */
GRAFT_ROW_INLINE void graft_row_tiles(const struct graft_coded *self, graft_row_unpack unpack, int n_rows, int n_tokens,
                                      int64_t first, int64_t n, const float *x, float *y) {
    struct graft_row_tile tile;
    tile.self = self;
    tile.part = n / n_rows;
    tile.x = x;
    for (int64_t at = 0; at < tile.part; at++) {
        graft_row_each_part(self, first + at, tile.part, n_rows, tile.rows);
        graft_row_multiply(&tile, unpack, n_rows, n_tokens, y + at);
    }
    for (int64_t at = tile.part * n_rows; at < n; at++) {
        tile.rows[0] = graft_row_at(self, first + at);
        graft_row_multiply(&tile, unpack, 1, n_tokens, y + at);
    }
}

/* [any] Implements `multiply` of a table. */
GRAFT_ROW_INLINE void graft_row_multiply_all(const struct graft_coded *self, graft_row_unpack unpack, int64_t first,
                                             int64_t n, const float *x, int64_t tokens, float *y) {
    int64_t t = 0;
    for (int64_t r = 0; self->group_of != NULL && r < n; r++) {
        graft_row_multiply_scattered(self, unpack, first + r, x, tokens, y + r);
    }
    if (self->group_of != NULL) {
        return;
    }
    for (; t + GRAFT_ROW_TOKENS <= tokens; t += GRAFT_ROW_TOKENS) {
        graft_row_tiles(self, unpack, GRAFT_ROW_SHARED, GRAFT_ROW_TOKENS, first, n, x + t * self->x_stride,
                        y + t * self->y_stride);
    }
    for (; t < tokens; t++) {
        graft_row_tiles(self, unpack, GRAFT_ROW_MOST, 1, first, n, x + t * self->x_stride, y + t * self->y_stride);
    }
}

/* [any] Rounds numbers to bf16, to nearest with ties to even, NaN to NaN; the result is in the upper half of each
 * lane. */
GRAFT_ROW_INLINE graft_row_words graft_row_round(graft_row_floats numbers) {
    const graft_row_words bits = (graft_row_words)numbers;
    const graft_row_words is_number = (graft_row_words)(numbers == numbers);
    return (bits + (is_number & (0x7fff + ((bits >> 16) & 1)))) & 0xffff0000;
}

/* [any] Writes the first n numbers, unchanged or rounded to bf16, NaN to NaN. */
GRAFT_ROW_INLINE void graft_row_store(graft_row_floats numbers, int64_t n, graft_dtype dtype, void *out) {
    uint16_t halves[GRAFT_ROW_LANES];
#if defined(__AVX512BF16__)
    if (dtype != GRAFT_DTYPE_F32 && n == GRAFT_ROW_LANES) { /* subnormal numbers become 0, as in bf16 products */
        _mm256_storeu_si256((__m256i *)out, (__m256i)_mm512_cvtneps_pbh((__m512)numbers));
        return;
    }
#endif
    if (dtype == GRAFT_DTYPE_F32) {
        memcpy(out, &numbers, (size_t)n * sizeof(float));
        return;
    }
    const graft_row_words bits = graft_row_round(numbers);
#if defined(__AVX512F__)
    const __m256i upper = _mm512_cvtepi32_epi16(_mm512_srli_epi32((__m512i)bits, 16));
    memcpy(halves, &upper, sizeof halves);
#else
    for (int l = 0; l < GRAFT_ROW_LANES; l++) {
        halves[l] = (uint16_t)(bits[l] >> 16);
    }
#endif
    memcpy(out, halves, (size_t)n * sizeof *halves);
}

/* [any] out [columns] = a row, widened. */
GRAFT_ROW_INLINE void graft_row_widen(const struct graft_coded *self, graft_row_unpack unpack, int64_t output,
                                      graft_dtype dtype, char *out) {
    const struct graft_row row = graft_row_at(self, output);
    const int64_t size = dtype == GRAFT_DTYPE_F32 ? 4 : 2;
    const int64_t step = self->group_of != NULL ? self->columns : self->group_size;
    for (int64_t begin = 0; begin < self->columns; begin += step) {
        const int64_t end = begin + graft_coded_left(self->columns, begin, step);
        const float zero = graft_row_zero(self, &row, begin / step);
        const float scale = graft_row_scale(self, &row, begin / step);
        for (int64_t i = begin; i < end; i += GRAFT_ROW_LANES) {
            const int64_t n = graft_coded_left(end, i, GRAFT_ROW_LANES);
            graft_row_floats weights;
            if (self->group_of != NULL) {
                weights = graft_row_scattered(self, unpack, &row, i, n);
            } else if (n == GRAFT_ROW_LANES) {
                weights = unpack(row.codes, i, zero, self->table) * scale;
            } else {
                weights = graft_row_unpack_end(unpack, self->bits, row.codes, i, n, zero, self->table) * scale;
            }
            graft_row_store(weights, n, dtype, out + i * size);
        }
    }
}

/* Defines the functions of a format's table: format##_multiply, format##_widen and format##_turn. */
#define GRAFT_ROW_FUNCTIONS(format, unpack)                                                                     \
    static void format##_multiply(const struct graft_coded *self, int64_t first, int64_t n, const float *x,     \
                                  int64_t tokens, float *y) {                                                   \
        graft_row_multiply_all(self, unpack, first, n, x, tokens, y);                                           \
    }                                                                                                           \
    static void format##_widen(const struct graft_coded *self, int64_t first, int64_t n, graft_dtype dtype,     \
                               void *out) {                                                                     \
        for (int64_t r = 0; r < n; r++) {                                                                       \
            graft_row_widen(self, unpack, first + r, dtype,                                                     \
                            (char *)out + r * self->columns * (dtype == GRAFT_DTYPE_F32 ? 4 : 2));              \
        }                                                                                                       \
    }                                                                                                           \
    static void format##_turn(const struct graft_coded *self, const struct graft_transposed_portion *portion) { \
        graft_row_transposed(self, unpack, portion);                                                            \
    }

/* Defines format##_prepared for a kind of codes, UINT4, UINT8, INT8, FLOAT8 or FLOAT4, if the build has loops for
 * prepared inputs of that kind. */
#if defined(__AVX2__)
#define GRAFT_ROW_PREPARED_UINT4(format) GRAFT_ROW_INTEGERS(format, GRAFT_ROW_KIND_UINT4)
#define GRAFT_ROW_PREPARED_UINT8(format) GRAFT_ROW_INTEGERS(format, GRAFT_ROW_KIND_UINT8)
#define GRAFT_ROW_PREPARED_INT8(format) GRAFT_ROW_INTEGERS(format, GRAFT_ROW_KIND_INT8)
#define GRAFT_ROW_PREPARED_FLOAT4(format) GRAFT_ROW_INTEGERS(format, GRAFT_ROW_KIND_FLOAT4)
#else
#define GRAFT_ROW_PREPARED_UINT4(format) GRAFT_ROW_UNPREPARED(format)
#define GRAFT_ROW_PREPARED_UINT8(format) GRAFT_ROW_UNPREPARED(format)
#define GRAFT_ROW_PREPARED_INT8(format) GRAFT_ROW_UNPREPARED(format)
#define GRAFT_ROW_PREPARED_FLOAT4(format) GRAFT_ROW_UNPREPARED(format)
#endif
#if defined(__AVX512BF16__)
#define GRAFT_ROW_PREPARED_FLOAT8(format) GRAFT_ROW_ROUNDED(format)
#elif defined(__AVX2__) && !defined(__AVX512F__)
#define GRAFT_ROW_PREPARED_FLOAT8(format) GRAFT_ROW_LINES(format)
#else
#define GRAFT_ROW_PREPARED_FLOAT8(format) GRAFT_ROW_UNPREPARED(format)
#endif
#define GRAFT_ROW_PREPARED(format, kind) GRAFT_ROW_PREPARED_##kind(format)

/* Defines a static graft_coded_prepared called `name` whose functions are the given calls. */
#define GRAFT_ROW_PREPARED_AS(name, size_call, prepare_call, multiply_call)                                   \
    static int64_t name##_size(const struct graft_coded *self) {                                              \
        return size_call;                                                                                     \
    }                                                                                                         \
    static void name##_prepare(const struct graft_coded *self, const float *x, void *inputs) {                \
        prepare_call;                                                                                         \
    }                                                                                                         \
    static void name##_multiply(const struct graft_coded *self, int64_t first, int64_t n, const void *inputs, \
                                int64_t tokens, float *y) {                                                   \
        multiply_call;                                                                                        \
    }                                                                                                         \
    static const struct graft_coded_prepared name = {name##_size, name##_prepare, name##_multiply};

/* [any] y of rows [first, first + n) for 1, 2 or 4 tokens, whose prepared inputs follow each other. */
typedef void (*graft_row_some_tokens)(const struct graft_coded *self, const char *inputs, int64_t first, int64_t n,
                                      float *y);

/* Bytes of codes that stay in the second-level cache while tokens are multiplied with them, a few at a time. */
enum { GRAFT_ROW_STAYS = 1 << 17 };

/* [any] graft_coded_prepared.multiply: as many tokens at a time as share what is read, of so many rows that what is
 * read for the first is still there for the last. `size`: bytes of a token's inputs. */
GRAFT_ROW_INLINE void graft_row_by_tokens(const struct graft_coded *self, int64_t size, graft_row_some_tokens one,
                                          graft_row_some_tokens two, graft_row_some_tokens four, int64_t first,
                                          int64_t n, const void *inputs, int64_t tokens, float *y) {
    const int64_t out = self->y_stride, most = GRAFT_ROW_STAYS / self->row_bytes / GRAFT_CODED_PANEL + 1;
    const int64_t rows = tokens > 4 ? most * GRAFT_CODED_PANEL : n;
    const char *from = (const char *)inputs;
    for (int64_t r = 0; r < n; r += rows) {
        const int64_t some = graft_coded_left(n, r, rows);
        int64_t t = 0;
        for (; t + 4 <= tokens; t += 4) {
            four(self, from + t * size, first + r, some, y + t * out + r);
        }
        for (; t + 2 <= tokens; t += 2) {
            two(self, from + t * size, first + r, some, y + t * out + r);
        }
        if (t < tokens) {
            one(self, from + t * size, first + r, some, y + t * out + r);
        }
    }
}

/* Defines one that supports no weight. */
#define GRAFT_CODED_UNPREPARED(name)                             \
    static int64_t name##_size(const struct graft_coded *self) { \
        (void)self;                                              \
        return 0;                                                \
    }                                                            \
    static const struct graft_coded_prepared name = {name##_size, NULL, NULL};

/* For formats whose inputs are never prepared. */
#define GRAFT_ROW_UNPREPARED(format) GRAFT_CODED_UNPREPARED(format##_prepared)

#include "kernels/coded/factors.h"
#include "kernels/coded/float8_bf16.h"
#include "kernels/coded/float8_lines.h"
#include "kernels/coded/integers.h"
#include "kernels/coded/panels.h"
#include "kernels/coded/transposed.h"

#endif
