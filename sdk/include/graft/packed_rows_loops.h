/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of packed_rows.h, for a format that says how to unpack. To be included, as packed_loops.h is, by a file
 * that is compiled once for each instruction set.
 *
 * That file defines a graft_row_unpack and with it, by GRAFT_PACKED_ROWS_LOOPS, its table. A sum goes over groups,
 * and the inputs in each, in their order, sixteen sums side by side: nothing depends on the number of tokens, threads
 * or rows.
 */
#ifndef GRAFT_PACKED_ROWS_LOOPS_H
#define GRAFT_PACKED_ROWS_LOOPS_H

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "packed_loops.h"
#include "packed_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As many numbers as a register has, and rows that are multiplied side by side. */
#if defined(__AVX512F__)
enum { GRAFT_ROW_LANES = 16, GRAFT_ROW_TILE = 4 };
#elif defined(__AVX2__)
enum { GRAFT_ROW_LANES = 8, GRAFT_ROW_TILE = 4 };
#else
enum { GRAFT_ROW_LANES = 4, GRAFT_ROW_TILE = 4 };
#endif

/* A register of numbers. */
typedef float graft_row_floats __attribute__((vector_size(GRAFT_ROW_LANES * 4)));
/* The same, of integers. */
typedef int32_t graft_row_ints __attribute__((vector_size(GRAFT_ROW_LANES * 4)));

/* [any] The codes of a row from input `input` on, as many as there are lanes, less `zero`. */
typedef graft_row_floats (*graft_row_unpack)(const unsigned char *codes, int64_t input, float zero);

/* [any] Bytes with their signs. Spelled out, since compilers widen them one by one. */
GRAFT_PACKED_INLINE graft_row_ints graft_row_bytes(const unsigned char *bytes) {
#if defined(__AVX512F__)
    return (graft_row_ints)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)bytes));
#elif defined(__AVX2__)
    return (graft_row_ints)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)bytes));
#else
    const graft_row_ints numbers = {(int8_t)bytes[0], (int8_t)bytes[1], (int8_t)bytes[2], (int8_t)bytes[3]};
    return numbers;
#endif
}

/* [any] F8_E4M3: exponents are moved, and the largest codes are NaN. There are no zero points. With F16C by way of f16,
 * as the subnormals of f32 take some processors long. */
GRAFT_PACKED_INLINE graft_row_floats graft_row_float8(const unsigned char *codes, int64_t input, float zero) {
    (void)zero;
#if defined(__AVX512F__)
    const __m256i bytes = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(codes + input)));
    const __m256i most = _mm256_set1_epi16(0x3f80);
    const __m256i halves = _mm256_and_si256(_mm256_slli_epi16(bytes, 7), _mm256_set1_epi16(~0x4000));
    const __m256i nan = _mm256_cmpeq_epi16(_mm256_and_si256(halves, most), most);
    return (graft_row_floats)_mm512_cvtph_ps(_mm256_or_si256(halves, nan)) * 256.0F;
#elif defined(__AVX2__)
    const __m128i bytes = _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)(codes + input)));
    const __m128i most = _mm_set1_epi16(0x3f80);
    const __m128i halves = _mm_and_si128(_mm_slli_epi16(bytes, 7), _mm_set1_epi16(~0x4000));
    const __m128i nan = _mm_cmpeq_epi16(_mm_and_si128(halves, most), most);
    return (graft_row_floats)_mm256_cvtph_ps(_mm_or_si128(halves, nan)) * 256.0F;
#else
    const graft_row_ints bytes = graft_row_bytes(codes + input);
    const graft_row_ints bits = ((bytes << 20) & ~0x78000000) | ((bytes & 0x7f) == 0x7f);
    return (graft_row_floats)bits * 1.329227995784916e36F; /* 2^120 */
#endif
}

/* [any] Signed integers of 8 bits. */
GRAFT_PACKED_INLINE graft_row_floats graft_row_int8(const unsigned char *codes, int64_t input, float zero) {
    return __builtin_convertvector(graft_row_bytes(codes + input), graft_row_floats) - zero;
}

/* [any] Unsigned integers of 8 bits. */
GRAFT_PACKED_INLINE graft_row_floats graft_row_uint8(const unsigned char *codes, int64_t input, float zero) {
    return __builtin_convertvector(graft_row_bytes(codes + input) & 0xff, graft_row_floats) - zero;
}

/* [any] Unsigned integers of 4 bits, eight in a word, the first in its lowest bits. */
GRAFT_PACKED_INLINE graft_row_floats graft_row_uint4(const unsigned char *codes, int64_t input, float zero) {
#if defined(__AVX512F__)
    static const graft_row_ints shifts = {0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28};
    static const graft_row_ints halves = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    static const graft_row_floats numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    int64_t word;
    memcpy(&word, codes + input / 2, sizeof word);
    const __m512i words = _mm512_permutexvar_epi32((__m512i)halves, _mm512_set1_epi64(word));
    return (graft_row_floats)_mm512_permutexvar_ps(_mm512_srlv_epi32(words, (__m512i)shifts), (__m512)(numbers - zero));
#elif defined(__AVX2__)
    static const graft_row_ints shifts = {0, 4, 8, 12, 16, 20, 24, 28};
    int32_t word;
    memcpy(&word, codes + input / 2, sizeof word);
    return __builtin_convertvector(((graft_row_ints)_mm256_set1_epi32(word) >> shifts) & 15, graft_row_floats) - zero;
#else
    const unsigned char *two = codes + input / 2;
    const graft_row_ints numbers = {two[0] & 15, two[0] >> 4, two[1] & 15, two[1] >> 4};
    return __builtin_convertvector(numbers, graft_row_floats) - zero;
#endif
}

/* A row of the weight. */
struct graft_packed_row {
    const unsigned char *codes;           /* of its first input on */
    const struct graft_row_block *scales; /* the block that has its scales */
    int64_t scale;                        /* that of group 0 in it */
    int64_t output;                       /* its number */
};

GRAFT_ASSERT_SIZE(struct graft_packed_row, 32);

/* [any] Row `output`. */
GRAFT_PACKED_INLINE struct graft_packed_row graft_packed_row_at(const struct graft_packed_rows *self, int64_t output) {
    struct graft_packed_row row;
    int64_t at = output, scale_row = output / self->block_rows;
    const struct graft_row_block *block = graft_packed_rows_block(self->codes, &at);
    row.codes = (const unsigned char *)block->data + at * self->row_bytes;
    row.scales = graft_packed_rows_block(self->scales, &scale_row);
    row.scale = scale_row * self->packed.groups;
    row.output = output;
    return row;
}

/* [any] What the codes of a row's group are multiplied by. */
GRAFT_PACKED_INLINE float graft_packed_row_scale(const struct graft_packed_row *row, int64_t group) {
    const uint16_t *halves = (const uint16_t *)row->scales->data + row->scale + group;
    uint32_t bits;
    float scale;
    switch (row->scales->dtype) {
    case GRAFT_DTYPE_F16:
        return graft_packed_half(*halves);
    case GRAFT_DTYPE_BF16:
        bits = (uint32_t)*halves << 16;
        memcpy(&scale, &bits, sizeof scale);
        return scale;
    default:
        return ((const float *)row->scales->data)[row->scale + group];
    }
}

/* [any] What is taken off them first. */
GRAFT_PACKED_INLINE float graft_packed_row_zero(const struct graft_packed *self, const struct graft_packed_row *row,
                                                int64_t group) {
    if (self->zeros == NULL) {
        return (float)self->zero_offset;
    }
    const int32_t slots = 32 / self->bits;
    const int32_t word = self->zeros[row->output / slots * self->groups + group];
    return (float)(((word >> (row->output % slots * self->bits)) & ((1 << self->bits) - 1)) + self->zero_offset);
}

/* [any] As `unpack`, of a row that ends after n codes; zeros behind them. */
GRAFT_PACKED_INLINE graft_row_floats graft_row_unpack_end(graft_row_unpack unpack, int32_t bits,
                                                          const unsigned char *codes, int64_t input, int64_t n,
                                                          float zero) {
    unsigned char end[GRAFT_ROW_LANES] = {0};
    memcpy(end, codes + input * bits / 8, (size_t)((n * bits + 7) / 8));
    return unpack(end, 0, zero);
}

/* [any] The first n of 16 numbers, then zeros. */
GRAFT_PACKED_INLINE graft_row_floats graft_packed_load(const float *x, int64_t n) {
    graft_row_floats numbers = {0};
    memcpy(&numbers, x, (size_t)n * sizeof *x);
    return numbers;
}

/* [any] The sum of 16 numbers. */
GRAFT_PACKED_INLINE float graft_packed_sum(graft_row_floats v) {
#if defined(__AVX512F__)
    v += __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
#elif defined(__AVX2__)
    v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
#endif
    return (v[0] + v[1]) + (v[2] + v[3]);
}

/* [any] y [GRAFT_ROW_TILE] = rows times x, where groups follow each other. */
GRAFT_PACKED_INLINE void graft_packed_rows_tile(const struct graft_packed *self, graft_row_unpack unpack,
                                                const struct graft_packed_row rows[GRAFT_ROW_TILE], const float *x,
                                                float *y) {
    graft_row_floats totals[GRAFT_ROW_TILE] = {{0}};
    for (int64_t group = 0; group < self->groups; group++) {
        graft_row_floats sums[GRAFT_ROW_TILE] = {{0}};
        float zeros[GRAFT_ROW_TILE];
        int64_t i = group * self->group_size;
        const int64_t end = i + graft_packed_left(self->in_features, i, self->group_size);
        for (int r = 0; r < GRAFT_ROW_TILE; r++) {
            zeros[r] = graft_packed_row_zero(self, &rows[r], group);
        }
        for (; i + GRAFT_ROW_LANES <= end; i += GRAFT_ROW_LANES) {
            const graft_row_floats inputs = graft_packed_load(x + i, GRAFT_ROW_LANES);
            for (int r = 0; r < GRAFT_ROW_TILE; r++) {
                sums[r] += unpack(rows[r].codes, i, zeros[r]) * inputs;
            }
        }
        if (i < end) {
            const graft_row_floats inputs = graft_packed_load(x + i, end - i);
            for (int r = 0; r < GRAFT_ROW_TILE; r++) {
                sums[r] += graft_row_unpack_end(unpack, self->bits, rows[r].codes, i, end - i, zeros[r]) * inputs;
            }
        }
        for (int r = 0; r < GRAFT_ROW_TILE; r++) {
            totals[r] += sums[r] * graft_packed_row_scale(&rows[r], group);
        }
    }
    for (int r = 0; r < GRAFT_ROW_TILE; r++) {
        y[r] = graft_packed_sum(totals[r]);
    }
}

/* [any] Weights [input, input + n) of a row, n at most 16, whose inputs have groups of their own; then zeros. */
GRAFT_PACKED_INLINE graft_row_floats graft_packed_rows_scattered(const struct graft_packed_rows *self,
                                                                 graft_row_unpack unpack,
                                                                 const struct graft_packed_row *row, int64_t input,
                                                                 int64_t n) {
    graft_row_floats scales = {0}, zeros = {0};
    for (int64_t l = 0; l < n; l++) {
        scales[l] = graft_packed_row_scale(row, self->group_of[input + l]);
        zeros[l] = graft_packed_row_zero(&self->packed, row, self->group_of[input + l]);
    }
    return (graft_row_unpack_end(unpack, self->packed.bits, row->codes, input, n, 0.0F) - zeros) * scales;
}

/* [any] y [n] = W x, n at most GRAFT_PACKED_STRIP. */
GRAFT_PACKED_INLINE void graft_packed_rows_multiply(const struct graft_packed_rows *self, graft_row_unpack unpack,
                                                    int64_t first, int64_t n, const float *x, float *y) {
    for (int64_t at = 0; at < n; at += GRAFT_ROW_TILE) {
        struct graft_packed_row rows[GRAFT_ROW_TILE];
        float sums[GRAFT_ROW_TILE];
        for (int64_t r = 0; r < GRAFT_ROW_TILE; r++) {
            rows[r] = graft_packed_row_at(self, first + (at + r < n ? at + r : n - 1));
        }
        if (self->group_of == NULL) {
            graft_packed_rows_tile(&self->packed, unpack, rows, x, sums);
        } else {
            for (int r = 0; r < GRAFT_ROW_TILE; r++) {
                graft_row_floats total = {0};
                for (int64_t i = 0; i < self->packed.in_features; i += GRAFT_ROW_LANES) {
                    const int64_t left = graft_packed_left(self->packed.in_features, i, GRAFT_ROW_LANES);
                    total +=
                        graft_packed_rows_scattered(self, unpack, &rows[r], i, left) * graft_packed_load(x + i, left);
                }
                sums[r] = graft_packed_sum(total);
            }
        }
        memcpy(y + at, sums, (size_t)graft_packed_left(n, at, GRAFT_ROW_TILE) * sizeof *y);
    }
}

/* [any] out [in_features] = a row of W. */
GRAFT_PACKED_INLINE void graft_packed_rows_widen(const struct graft_packed_rows *self, graft_row_unpack unpack,
                                                 int64_t output, float *out) {
    const struct graft_packed_row row = graft_packed_row_at(self, output);
    const struct graft_packed *packed = &self->packed;
    const int64_t step = self->group_of != NULL ? packed->in_features : packed->group_size;
    for (int64_t begin = 0; begin < packed->in_features; begin += step) {
        const int64_t end = begin + graft_packed_left(packed->in_features, begin, step);
        const float zero = graft_packed_row_zero(packed, &row, begin / step);
        const float scale = graft_packed_row_scale(&row, begin / step);
        for (int64_t i = begin; i < end; i += GRAFT_ROW_LANES) {
            const int64_t n = graft_packed_left(end, i, GRAFT_ROW_LANES);
            graft_row_floats weights;
            if (self->group_of != NULL) {
                weights = graft_packed_rows_scattered(self, unpack, &row, i, n);
            } else if (n == GRAFT_ROW_LANES) {
                weights = unpack(row.codes, i, zero) * scale;
            } else {
                weights = graft_row_unpack_end(unpack, packed->bits, row.codes, i, n, zero) * scale;
            }
            memcpy(out + i, &weights, (size_t)n * sizeof *out);
        }
    }
}

/* Defines what a format's table has: format##_multiply and format##_widen. */
#define GRAFT_PACKED_ROWS_FUNCTIONS(format, unpack)                                                              \
    static void format##_multiply(const struct graft_packed *self, int64_t first, int64_t n, const float *x,     \
                                  float *y) {                                                                    \
        graft_packed_rows_multiply(graft_packed_rows_of(self), unpack, first, n, x, y);                          \
    }                                                                                                            \
    static void format##_widen(const struct graft_packed *self, int64_t first, int64_t n, float *out) {          \
        for (int64_t r = 0; r < n; r++) {                                                                        \
            graft_packed_rows_widen(graft_packed_rows_of(self), unpack, first + r, out + r * self->in_features); \
        }                                                                                                        \
    }

/* Defines both, and the table. */
#define GRAFT_PACKED_ROWS_LOOPS(format, unpack) \
    GRAFT_PACKED_ROWS_FUNCTIONS(format, unpack) \
    const struct graft_packed_loops GRAFT_PACKED_TABLE(format) = {GRAFT_PACKED_ISA, format##_multiply, format##_widen}

#ifdef __cplusplus
}
#endif

#endif
