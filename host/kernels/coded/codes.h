/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of codes: finds a row, converts its codes to numbers, and reads the scales and zero points of its groups.
 * For loops.h and its parts, in the compiler's vectors, as wide as the target has them. */
#ifndef GRAFT_KERNELS_CODED_CODES_H
#define GRAFT_KERNELS_CODED_CODES_H

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "graft/convert.h"
#include "graft/vectors.h"
#include "kernels/coded/coded.h"

#define GRAFT_ROW_INLINE static inline __attribute__((always_inline, unused))

/* Kinds of codes in the loops' layout. With 4 bits the first of two codes is in the lower half of their byte. */
enum {
    GRAFT_ROW_KIND_UINT4 = 0,
    GRAFT_ROW_KIND_UINT8 = 1,
    GRAFT_ROW_KIND_INT8 = 2,
    GRAFT_ROW_KIND_FLOAT8 = 3,
    GRAFT_ROW_KIND_FLOAT4 = 4
};

/* Floats in a register. */
enum { GRAFT_ROW_LANES = GRAFT_VECTOR_LANES };

/* A register of floats. */
typedef float graft_row_floats __attribute__((vector_size(GRAFT_ROW_LANES * 4)));
/* A register of integers. */
typedef int32_t graft_row_ints __attribute__((vector_size(GRAFT_ROW_LANES * 4)));
/* A register of words. */
typedef uint32_t graft_row_words __attribute__((vector_size(GRAFT_ROW_LANES * 4)));

/* [any] Unpacks codes of a row from input `input` on, one for each lane, and subtracts `zero`; for codes of a table,
 * `table` has the numbers. */
typedef graft_row_floats (*graft_row_unpack)(const unsigned char *codes, int64_t input, float zero, const float *table);

/* [any] Sign-extends bytes. Written as intrinsics, since compilers widen bytes one by one. */
GRAFT_ROW_INLINE graft_row_ints graft_row_bytes(const unsigned char *bytes) {
#if defined(__AVX512F__)
    return (graft_row_ints)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)bytes));
#elif defined(__AVX2__)
    return (graft_row_ints)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)bytes));
#else
    const graft_row_ints numbers = {(int8_t)bytes[0], (int8_t)bytes[1], (int8_t)bytes[2], (int8_t)bytes[3]};
    return numbers;
#endif
}

/* [any] F8_E4M3, without zero points: the exponent is rebiased, and the largest codes are NaN. With F16C the conversion
 * goes through f16, as some processors are slow with the subnormals of f32. */
GRAFT_ROW_INLINE graft_row_floats graft_row_float8(const unsigned char *codes, int64_t input, float zero,
                                                   const float *table) {
    (void)table;
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

/* [any] Converts a single code, for which a vector would have to be assembled in memory first. */
GRAFT_ROW_INLINE float graft_row_float8_alone(unsigned char code) {
    const uint32_t size = code & 0x7f, sign = code & 0x80;
    const uint32_t bits = size == 0x7f ? 0x7fc00000 : sign << 24 | size << 20;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number * 1.329227995784916e36F; /* 2^120 */
}

/* [any] Signed integers of 8 bits. */
GRAFT_ROW_INLINE graft_row_floats graft_row_int8(const unsigned char *codes, int64_t input, float zero,
                                                 const float *table) {
    (void)table;
    return __builtin_convertvector(graft_row_bytes(codes + input), graft_row_floats) - zero;
}

/* [any] Unsigned integers of 8 bits. */
GRAFT_ROW_INLINE graft_row_floats graft_row_uint8(const unsigned char *codes, int64_t input, float zero,
                                                  const float *table) {
    (void)table;
    return __builtin_convertvector(graft_row_bytes(codes + input) & 0xff, graft_row_floats) - zero;
}

#if defined(__AVX2__)
/* [any] Shifts codes of 4 bits, eight in a word with the first in its lowest bits, to the low bits of a lane each;
 * other codes stay above them. */
GRAFT_ROW_INLINE graft_row_ints graft_row_nibbles(const unsigned char *codes, int64_t input) {
#if defined(__AVX512F__)
    static const graft_row_ints shifts = {0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28};
    static const graft_row_ints halves = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    int64_t word;
    memcpy(&word, codes + input / 2, sizeof word);
    const __m512i words = _mm512_permutexvar_epi32((__m512i)halves, _mm512_set1_epi64(word));
    return (graft_row_ints)_mm512_srlv_epi32(words, (__m512i)shifts);
#else
    static const graft_row_ints shifts = {0, 4, 8, 12, 16, 20, 24, 28};
    int32_t word;
    memcpy(&word, codes + input / 2, sizeof word);
    return (graft_row_ints)_mm256_set1_epi32(word) >> shifts;
#endif
}
#endif

/* [any] Unsigned integers of 4 bits. */
GRAFT_ROW_INLINE graft_row_floats graft_row_uint4(const unsigned char *codes, int64_t input, float zero,
                                                  const float *table) {
    (void)table;
#if defined(__AVX512F__)
    static const graft_row_floats numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (graft_row_floats)_mm512_permutexvar_ps((__m512i)graft_row_nibbles(codes, input), (__m512)(numbers - zero));
#elif defined(__AVX2__)
    return __builtin_convertvector(graft_row_nibbles(codes, input) & 15, graft_row_floats) - zero;
#else
    const unsigned char *two = codes + input / 2;
    const graft_row_ints numbers = {two[0] & 15, two[0] >> 4, two[1] & 15, two[1] >> 4};
    return __builtin_convertvector(numbers, graft_row_floats) - zero;
#endif
}

/* [any] E2M1, without zero points. */
GRAFT_ROW_INLINE graft_row_floats graft_row_float4(const unsigned char *codes, int64_t input, float zero,
                                                   const float *table) {
    (void)table;
    (void)zero;
#if defined(__AVX512F__)
    static const graft_row_floats numbers = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                             -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};
    return (graft_row_floats)_mm512_permutexvar_ps((__m512i)graft_row_nibbles(codes, input), (__m512)numbers);
#elif defined(__AVX2__)
    static const graft_row_floats sizes = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
    const graft_row_ints some = graft_row_nibbles(codes, input);
    const graft_row_ints size = (graft_row_ints)_mm256_permutevar8x32_ps((__m256)sizes, (__m256i)some); /* by 3 bits */
    return (graft_row_floats)(size | (some & 8) << 28);
#else
    static const float numbers[] = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                    -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};
    const unsigned char *two = codes + input / 2;
    const graft_row_floats some = {numbers[two[0] & 15], numbers[two[0] >> 4], numbers[two[1] & 15],
                                   numbers[two[1] >> 4]};
    return some;
#endif
}

/* A row of the weight. */
struct graft_row {
    const unsigned char *codes;           /* codes, beginning with the first input's */
    const struct graft_row_block *scales; /* the block that has its scales */
    int64_t scale;                        /* index of group 0's scale in that block */
    int64_t stored;                       /* the row's number in the weight */
};

GRAFT_ASSERT_SIZE(struct graft_row, 32);

/* [any] Row `output`. */
GRAFT_ROW_INLINE struct graft_row graft_row_at(const struct graft_coded *self, int64_t output) {
    struct graft_row row;
    const int64_t stored = self->first + output * self->step;
    int64_t at = stored,
            scale_row = self->block_rows == 1 ? stored : stored / self->block_rows; /* a division is slow */
    const struct graft_row_block *block = graft_coded_block(self->codes, &at);
    row.codes = (const unsigned char *)block->data + at * self->row_bytes;
    row.scales = graft_coded_block(self->scales, &scale_row);
    row.scale = scale_row * self->groups;
    row.stored = stored;
    return row;
}

/* [any] The bytes of a scale. */
GRAFT_ROW_INLINE int64_t graft_row_scale_size(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 ? 4 : dtype == GRAFT_DTYPE_U8 || dtype == GRAFT_DTYPE_F8_E4M3 ? 1 : 2;
}

/* [any] 2^(byte - 127). Byte 0 is a subnormal of f32. */
GRAFT_ROW_INLINE float graft_row_power(unsigned char byte) {
    const uint32_t bits = byte == 0 ? 1U << 22 : (uint32_t)byte << 23;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* [any] The scale of a row's group, by which its codes are multiplied. */
GRAFT_ROW_INLINE float graft_row_scale(const struct graft_coded *self, const struct graft_row *row, int64_t group) {
    const int64_t at = row->scale + group;
    switch (row->scales->dtype) {
    case GRAFT_DTYPE_F16:
        return graft_vector_half(((const uint16_t *)row->scales->data)[at]);
    case GRAFT_DTYPE_BF16:
        return graft_f32_from_bf16(((const uint16_t *)row->scales->data)[at]);
    case GRAFT_DTYPE_U8:
        return graft_row_power(((const unsigned char *)row->scales->data)[at]);
    case GRAFT_DTYPE_F8_E4M3: {
        const float scale = graft_row_float8_alone(((const unsigned char *)row->scales->data)[at]);
        return self->factor != 0.0F ? scale * self->factor : scale / self->divisor;
    }
    default:
        return ((const float *)row->scales->data)[at];
    }
}

/* [any] A zero point that is stored as a number. */
GRAFT_ROW_INLINE float graft_row_zero_number(const struct graft_coded *self, int64_t at) {
    switch (self->zero_dtype) {
    case GRAFT_DTYPE_F16:
        return graft_vector_half(((const uint16_t *)self->zero_numbers)[at]);
    case GRAFT_DTYPE_BF16:
        return graft_f32_from_bf16(((const uint16_t *)self->zero_numbers)[at]);
    default:
        return ((const float *)self->zero_numbers)[at];
    }
}

/* [any] The zero point of a row's group, which is subtracted from codes first. */
GRAFT_ROW_INLINE float graft_row_zero(const struct graft_coded *self, const struct graft_row *row, int64_t group) {
    if (self->zero_numbers != NULL) {
        return graft_row_zero_number(self, row->stored * self->groups + group);
    }
    if (self->zeros == NULL) {
        return (float)self->zero;
    }
    const int32_t slots = 32 / self->bits;
    const int32_t word = self->zeros[row->stored / slots * self->groups + group];
    return (float)(((word >> (row->stored % slots * self->bits)) & ((1 << self->bits) - 1)) + self->zero);
}

/* The number of groups whose scales and zero points are widened together; the elements after the last one that may be
 * read or written; and the distance in bytes at which scales are prefetched. */
enum { GRAFT_ROW_GROUPS = 64, GRAFT_ROW_PADDING = 16, GRAFT_ROW_SCALES_AHEAD = 384 };

/* [any] graft_row_power for each lane. */
GRAFT_ROW_INLINE graft_row_floats graft_row_powers(const unsigned char *bytes) {
#if defined(__AVX512F__)
    const graft_row_ints all =
        (graft_row_ints)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)bytes));
#elif defined(__AVX2__)
    const graft_row_ints all = (graft_row_ints)_mm256_cvtepu8_epi32(_mm_loadu_si64(bytes));
#else
    const graft_row_ints all = {bytes[0], bytes[1], bytes[2], bytes[3]};
#endif
    return (graft_row_floats)(all << 23 | ((all == 0) & 1 << 22));
}

/* [any] Reads a vector of scales. */
GRAFT_ROW_INLINE graft_row_floats graft_row_some_scales(const struct graft_coded *self, graft_dtype dtype,
                                                        const void *scales) {
    switch (dtype) {
    case GRAFT_DTYPE_F16:
        return graft_vector_halves((const uint16_t *)scales);
    case GRAFT_DTYPE_BF16:
        return graft_vector_brains((const uint16_t *)scales);
    case GRAFT_DTYPE_U8:
        return graft_row_powers((const unsigned char *)scales);
    case GRAFT_DTYPE_F8_E4M3: {
        const graft_row_floats some = graft_row_float8((const unsigned char *)scales, 0, 0.0F, NULL);
        return self->factor != 0.0F ? some * self->factor : some / self->divisor;
    }
    default:
        return (graft_row_floats)graft_vector_words_from(scales);
    }
}

/* [any] The first n lanes, and zeros. */
GRAFT_ROW_INLINE graft_row_floats graft_row_first(graft_row_floats v, int64_t n) {
#if defined(__AVX512F__)
    const graft_row_ints lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__AVX2__)
    const graft_row_ints lanes = {0, 1, 2, 3, 4, 5, 6, 7};
#else
    const graft_row_ints lanes = {0, 1, 2, 3};
#endif
    return (graft_row_floats)((graft_row_ints)v & (lanes < (int32_t)n));
}

/* [any] Clears the whole vectors that n numbers from `out` on occupy, before they are written one by one. */
GRAFT_ROW_INLINE void graft_row_clear(int64_t n, float *out) {
    for (int64_t i = 0; i < n; i += GRAFT_ROW_LANES) {
        memset(out + i, 0, GRAFT_ROW_LANES * sizeof *out);
    }
}

/* [any] The scales of n of a row's groups, from `group` on; the other lanes are zero. Reads a whole vector if the block
 * of scales is long enough. Prefetches scales of later rows, since nothing can hide the time that loading them
 * takes. */
GRAFT_ROW_INLINE graft_row_floats graft_row_scales_at(const struct graft_coded *self, const struct graft_row *row,
                                                      int64_t group, int64_t n) {
    const int64_t first = row->scale + group;
    if (first + GRAFT_ROW_LANES > row->scales->rows * self->groups) {
        float some[GRAFT_ROW_LANES] = {0};
        graft_row_floats scales;
        for (int64_t g = 0; g < graft_coded_left(n, 0, GRAFT_ROW_LANES); g++) {
            some[g] = graft_row_scale(self, row, group + g);
        }
        memcpy(&scales, some, sizeof scales);
        return scales;
    }
    const graft_dtype dtype = row->scales->dtype;
    const char *scales = (const char *)row->scales->data + first * graft_row_scale_size(dtype);
    __builtin_prefetch((const void *)((uintptr_t)scales + GRAFT_ROW_SCALES_AHEAD), 0, 3);
    return graft_row_first(graft_row_some_scales(self, dtype, scales), n);
}

/* What the scales of groups are multiplied by for each of some tokens: the units of the token's quantized inputs.
 * Without any, scales are written as they are. */
struct graft_row_units {
    const float *of; /* [n, stride] whole vectors are read; NULL: none */
    int64_t n;       /* tokens */
    int64_t stride;
};

GRAFT_ASSERT_SIZE(struct graft_row_units, 24);

/* [any] Writes a vector of scales of groups from `g` on to `out`, times the units of each token. */
GRAFT_ROW_INLINE void graft_row_scales_put(graft_row_floats scales, const struct graft_row_units units, int64_t g,
                                           float *out) {
    if (units.of == NULL) {
        memcpy(out + g, &scales, sizeof scales);
    }
    for (int64_t t = 0; units.of != NULL && t < units.n; t++) {
        const graft_row_floats both =
            scales * (graft_row_floats)graft_vector_words_from(units.of + t * units.stride + g);
        memcpy(out + t * (GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING) + g, &both, sizeof both);
    }
}

/* [any] Whole vectors of scales of one type, which is a constant, for n groups. */
GRAFT_ROW_INLINE void graft_row_scales_of(const struct graft_coded *self, const graft_dtype dtype, const char *scales,
                                          const struct graft_row_units units, int64_t n, float *out) {
    const int64_t size = graft_row_scale_size(dtype);
    int64_t g = 0;
    for (; g + GRAFT_ROW_LANES <= n; g += GRAFT_ROW_LANES) {
        __builtin_prefetch((const void *)((uintptr_t)scales + (uintptr_t)(g * size + GRAFT_ROW_SCALES_AHEAD)), 0, 3);
        graft_row_scales_put(graft_row_some_scales(self, dtype, scales + g * size), units, g, out);
    }
    if (g < n) {
        const graft_row_floats some = graft_row_some_scales(self, dtype, scales + g * size);
        graft_row_scales_put(graft_row_first(some, n - g), units, g, out);
    }
}

/* [any] The scales of n of a row's groups, from `group` on, and zeros up to a whole vector, times the units of each
 * token: out [tokens, GRAFT_ROW_GROUPS + GRAFT_ROW_PADDING]. */
GRAFT_ROW_INLINE void graft_row_scales_times(const struct graft_coded *self, const struct graft_row *row, int64_t group,
                                             int64_t n, const struct graft_row_units units, float *out) {
    const int64_t first = row->scale + group, last = (n - 1) / GRAFT_ROW_LANES * GRAFT_ROW_LANES;
    const graft_dtype dtype = row->scales->dtype;
    const char *scales = (const char *)row->scales->data + first * graft_row_scale_size(dtype);
    if (first + last + GRAFT_ROW_LANES > row->scales->rows * self->groups) {
        for (int64_t g = 0; g < n; g += GRAFT_ROW_LANES) {
            graft_row_scales_put(graft_row_scales_at(self, row, group + g, n - g), units, g, out);
        }
        return;
    }
    switch (dtype) {
    case GRAFT_DTYPE_F16:
        graft_row_scales_of(self, GRAFT_DTYPE_F16, scales, units, n, out);
        break;
    case GRAFT_DTYPE_BF16:
        graft_row_scales_of(self, GRAFT_DTYPE_BF16, scales, units, n, out);
        break;
    case GRAFT_DTYPE_U8:
        graft_row_scales_of(self, GRAFT_DTYPE_U8, scales, units, n, out);
        break;
    case GRAFT_DTYPE_F8_E4M3:
        graft_row_scales_of(self, GRAFT_DTYPE_F8_E4M3, scales, units, n, out);
        break;
    default:
        graft_row_scales_of(self, GRAFT_DTYPE_F32, scales, units, n, out);
    }
}

/* [any] out [n] = the scales of a row's groups from `group` on, and zeros up to a whole vector. */
GRAFT_ROW_INLINE void graft_row_scales(const struct graft_coded *self, const struct graft_row *row, int64_t group,
                                       int64_t n, float *out) {
    graft_row_scales_times(self, row, group, n, (struct graft_row_units){0}, out);
}

/* [any] out [n] = a row's zero points from group `group` on, followed by zeros up to a whole vector, if they are stored
 * as numbers in one block for all rows. */
GRAFT_ROW_INLINE void graft_row_zero_numbers(const struct graft_coded *self, const struct graft_row *row, int64_t group,
                                             int64_t n, float *out) {
    const int64_t first = row->stored * self->groups + group, size = graft_row_scale_size(self->zero_dtype);
    const char *numbers = (const char *)self->zero_numbers + first * size;
    const int64_t there = self->codes->rows * self->groups - first;
    int64_t g = 0;
    for (; g < n && g + GRAFT_ROW_LANES <= there; g += GRAFT_ROW_LANES) {
        const graft_row_floats read = graft_row_some_scales(self, self->zero_dtype, numbers + g * size);
        const graft_row_floats some = graft_row_first(read, n - g);
        memcpy(out + g, &some, sizeof some);
        __builtin_prefetch((const void *)((uintptr_t)(numbers + g * size) + GRAFT_ROW_SCALES_AHEAD), 0, 3);
    }
    graft_row_clear(n - g, out + g);
    for (; g < n; g++) {
        out[g] = graft_row_zero_number(self, first + g);
    }
}

/* [any] Does the same for zero points in any form. */
GRAFT_ROW_INLINE void graft_row_zeros(const struct graft_coded *self, const struct graft_row *row, int64_t group,
                                      int64_t n, float *out) {
    const int32_t slots = 32 / self->bits, most = (1 << self->bits) - 1;
    const int32_t *words = self->zeros != NULL ? self->zeros + row->stored / slots * self->groups + group : NULL;
    const int32_t shift = (int32_t)(row->stored % slots) * self->bits;
    const int64_t there = ((self->codes->rows + slots - 1) / slots - row->stored / slots) * self->groups - group;
    int64_t g = 0;
    if (self->zero_numbers != NULL) {
        graft_row_zero_numbers(self, row, group, n, out);
        return;
    }
    for (; g < n && self->zeros == NULL; g++) {
        out[g] = (float)self->zero;
    }
    for (; g < n && g + GRAFT_ROW_LANES <= there; g += GRAFT_ROW_LANES) {
        const graft_row_ints codes = (graft_row_ints)graft_vector_words_from(words + g);
        const graft_row_ints zeros = ((codes >> shift) & most) + self->zero;
        const graft_row_floats some = graft_row_first(__builtin_convertvector(zeros, graft_row_floats), n - g);
        memcpy(out + g, &some, sizeof some);
        __builtin_prefetch((const void *)((uintptr_t)(words + g) + GRAFT_ROW_SCALES_AHEAD), 0, 3);
    }
    graft_row_clear(n - g, out + g);
    for (; g < n; g++) {
        out[g] = graft_row_zero(self, row, group + g);
    }
}

#endif
