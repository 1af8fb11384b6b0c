/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of codes: where a row lies, what its codes are as numbers, and what belongs to its groups. For
 * loops.h and its parts, in the compiler's vectors, as wide as the target has them.
 */
#ifndef GRAFT_KERNELS_CODED_CODES_H
#define GRAFT_KERNELS_CODED_CODES_H

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "graft/convert.h"
#include "graft/vectors.h"
#include "kernels/coded/coded.h"

#define GRAFT_ROW_INLINE static inline __attribute__((always_inline, unused))

/* Kinds of codes as the loops have them. Of 4 bits the first of two has the lower half of their byte. */
enum {
    GRAFT_ROW_KIND_UINT4 = 0,
    GRAFT_ROW_KIND_UINT8 = 1,
    GRAFT_ROW_KIND_INT8 = 2,
    GRAFT_ROW_KIND_FLOAT8 = 3,
    GRAFT_ROW_KIND_FLOAT4 = 4
};

/* Numbers in a register. */
enum { GRAFT_ROW_LANES = GRAFT_VECTOR_LANES };

/* As many numbers as there are lanes. */
typedef float graft_row_floats __attribute__((vector_size(GRAFT_ROW_LANES * 4)));
/* Likewise. */
typedef int32_t graft_row_ints __attribute__((vector_size(GRAFT_ROW_LANES * 4)));
/* The same, as bits. */
typedef uint32_t graft_row_words __attribute__((vector_size(GRAFT_ROW_LANES * 4)));

/* [any] The codes of a row from input `input` on, as many as there are lanes, less `zero`; those of a table are in
 * `table`. */
typedef graft_row_floats (*graft_row_unpack)(const unsigned char *codes, int64_t input, float zero, const float *table);

/* [any] Bytes with their signs. Spelled out, since compilers widen them one by one. */
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

/* [any] F8_E4M3: exponents are moved, and the largest codes are NaN. There are no zero points. With F16C by way of f16,
 * as the subnormals of f32 take some processors long. */
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

/* [any] A single one: a vector would have to be put together in memory first. */
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
/* [any] Codes of 4 bits, eight in a word, the first in its lowest bits: one in each lane, with others above it. */
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

/* [any] E2M1. There are no zero points. */
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
    const unsigned char *codes;           /* those of the first input first */
    const struct graft_row_block *scales; /* the block that has its scales */
    int64_t scale;                        /* that of group 0 in it */
    int64_t stored;                       /* its number among those of the weight */
};

GRAFT_ASSERT_SIZE(struct graft_row, 32);

/* [any] Row `output`. */
GRAFT_ROW_INLINE struct graft_row graft_row_at(const struct graft_coded *self, int64_t output) {
    struct graft_row row;
    const int64_t stored = self->first + output * self->step;
    int64_t at = stored, scale_row = stored / self->block_rows;
    const struct graft_row_block *block = graft_coded_block(self->codes, &at);
    row.codes = (const unsigned char *)block->data + at * self->row_bytes;
    row.scales = graft_coded_block(self->scales, &scale_row);
    row.scale = scale_row * self->groups;
    row.stored = stored;
    return row;
}

/* [any] Bytes of a scale. */
GRAFT_ROW_INLINE int64_t graft_row_scale_size(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 ? 4 : dtype == GRAFT_DTYPE_U8 || dtype == GRAFT_DTYPE_F8_E4M3 ? 1 : 2;
}

/* [any] 2^(byte - 127). 0 is below what f32 has as exponents. */
GRAFT_ROW_INLINE float graft_row_power(unsigned char byte) {
    const uint32_t bits = byte == 0 ? 1U << 22 : (uint32_t)byte << 23;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* [any] What the codes of a row's group are multiplied by. */
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

/* [any] What is taken off them first. */
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

/* Groups whose scales and zero points are widened at once; what may be read or written behind the last; and how many
 * bytes ahead they are fetched. */
enum { GRAFT_ROW_GROUPS = 64, GRAFT_ROW_BEHIND = 16, GRAFT_ROW_SCALES_AHEAD = 384 };

/* [any] As many powers as there are lanes (graft_row_power). */
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

/* [any] Scales at `scales`, as many as there are lanes. */
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

/* [any] out [n] = the scales of a row's groups from `group` on. Those of rows below are fetched: nothing else would be
 * done while they come. */
GRAFT_ROW_INLINE void graft_row_scales(const struct graft_coded *self, const struct graft_row *row, int64_t group,
                                       int64_t n, float *out) {
    const graft_dtype dtype = row->scales->dtype;
    const int64_t size = graft_row_scale_size(dtype);
    const char *scales = (const char *)row->scales->data + (row->scale + group) * size;
    int64_t g = 0;
    for (; g + GRAFT_ROW_LANES <= n; g += GRAFT_ROW_LANES) {
        const graft_row_floats some = graft_row_some_scales(self, dtype, scales + g * size);
        memcpy(out + g, &some, sizeof some);
        __builtin_prefetch((const void *)((uintptr_t)(scales + g * size) + GRAFT_ROW_SCALES_AHEAD), 0, 3);
    }
    for (; g < n; g++) {
        out[g] = graft_row_scale(self, row, group + g);
    }
}

/* [any] Likewise zero points that are stored as numbers. */
GRAFT_ROW_INLINE void graft_row_zero_numbers(const struct graft_coded *self, const struct graft_row *row, int64_t group,
                                             int64_t n, float *out) {
    const int64_t first = row->stored * self->groups + group, size = graft_row_scale_size(self->zero_dtype);
    const char *numbers = (const char *)self->zero_numbers + first * size;
    int64_t g = 0;
    for (; g + GRAFT_ROW_LANES <= n; g += GRAFT_ROW_LANES) {
        const graft_row_floats some = graft_row_some_scales(self, self->zero_dtype, numbers + g * size);
        memcpy(out + g, &some, sizeof some);
        __builtin_prefetch((const void *)((uintptr_t)(numbers + g * size) + GRAFT_ROW_SCALES_AHEAD), 0, 3);
    }
    for (; g < n; g++) {
        out[g] = graft_row_zero_number(self, first + g);
    }
}

/* [any] Likewise their zero points. */
GRAFT_ROW_INLINE void graft_row_zeros(const struct graft_coded *self, const struct graft_row *row, int64_t group,
                                      int64_t n, float *out) {
    const int32_t slots = 32 / self->bits, most = (1 << self->bits) - 1;
    const int32_t *words = self->zeros != NULL ? self->zeros + row->stored / slots * self->groups + group : NULL;
    const int32_t shift = (int32_t)(row->stored % slots) * self->bits;
    int64_t g = 0;
    if (self->zero_numbers != NULL) {
        graft_row_zero_numbers(self, row, group, n, out);
        return;
    }
    for (; g < n && self->zeros == NULL; g++) {
        out[g] = (float)self->zero;
    }
    for (; g + GRAFT_ROW_LANES <= n; g += GRAFT_ROW_LANES) {
        const graft_row_ints codes = (graft_row_ints)graft_vector_words_from(words + g);
        const graft_row_floats some = __builtin_convertvector(((codes >> shift) & most) + self->zero, graft_row_floats);
        memcpy(out + g, &some, sizeof some);
        __builtin_prefetch((const void *)((uintptr_t)(words + g) + GRAFT_ROW_SCALES_AHEAD), 0, 3);
    }
    for (; g < n; g++) {
        out[g] = graft_row_zero(self, row, group + g);
    }
}

#endif
