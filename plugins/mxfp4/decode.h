/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block of MXFP4 (Rouhani et al. 2023) as vectors of f32: a byte holds an even input in its low and the next one in
 * its high four bits, a sign above one of eight sizes. How the inputs of a block lie in VECTORS vectors is the
 * instruction set's own affair: AVX-512 has those with even numbers first.
 */
#ifndef MXFP4_DECODE_H
#define MXFP4_DECODE_H

#include <string.h>

#include "loops.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define MXFP4_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum { VECTORS = MXFP4_BLOCK / LANES };

typedef float floats __attribute__((vector_size(LANES * sizeof(float))));

/* The numbers of a block, before they are scaled. */
MXFP4_INLINE void decode(const uint8_t *bytes, floats numbers[VECTORS]);

/* The inputs of a block, as they are multiplied with these. */
MXFP4_INLINE void load(const float *x, floats inputs[VECTORS]);

/* The other way round: numbers in the order of inputs. */
MXFP4_INLINE void store(const floats numbers[VECTORS], float *out);

#if defined(__AVX512F__)

MXFP4_INLINE void decode(const uint8_t *bytes, floats numbers[VECTORS]) {
    const __m512 values = _mm512_setr_ps(0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F, -0.0F, -0.5F, -1.0F, -1.5F,
                                         -2.0F, -3.0F, -4.0F, -6.0F);
    const __m512i codes = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)bytes));
    numbers[0] = (floats)_mm512_permutexvar_ps(codes, values); /* which looks at four bits */
    numbers[1] = (floats)_mm512_permutexvar_ps(_mm512_srli_epi32(codes, 4), values);
}

MXFP4_INLINE void load(const float *x, floats inputs[VECTORS]) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512 lower = _mm512_loadu_ps(x), upper = _mm512_loadu_ps(x + LANES);
    inputs[0] = (floats)_mm512_permutex2var_ps(lower, even, upper);
    inputs[1] = (floats)_mm512_permutex2var_ps(lower, _mm512_add_epi32(even, _mm512_set1_epi32(1)), upper);
}

MXFP4_INLINE void store(const floats numbers[VECTORS], float *out) {
    const __m512i lower = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i upper = _mm512_add_epi32(lower, _mm512_set1_epi32(LANES / 2));
    _mm512_storeu_ps(out, _mm512_permutex2var_ps((__m512)numbers[0], lower, (__m512)numbers[1]));
    _mm512_storeu_ps(out + LANES, _mm512_permutex2var_ps((__m512)numbers[0], upper, (__m512)numbers[1]));
}

#else

#if defined(__AVX2__)

/* By way of f16, in which the lower byte of each number is 0. */
MXFP4_INLINE void decode(const uint8_t *bytes, floats numbers[VECTORS]) {
    const __m128i upper_bytes = _mm_setr_epi8(0, 0x38, 0x3c, 0x3e, 0x40, 0x42, 0x44, 0x46, (char)0x80, (char)0xb8,
                                              (char)0xbc, (char)0xbe, (char)0xc0, (char)0xc2, (char)0xc4, (char)0xc6);
    const __m128i codes = _mm_loadu_si128((const __m128i *)(const void *)bytes), four_bits = _mm_set1_epi8(15);
    const __m128i even = _mm_shuffle_epi8(upper_bytes, _mm_and_si128(codes, four_bits));
    const __m128i odd = _mm_shuffle_epi8(upper_bytes, _mm_and_si128(_mm_srli_epi16(codes, 4), four_bits));
    const __m128i lower = _mm_unpacklo_epi8(even, odd), upper = _mm_unpackhi_epi8(even, odd);
    const __m128i zero = _mm_setzero_si128();
    numbers[0] = (floats)_mm256_cvtph_ps(_mm_unpacklo_epi8(zero, lower));
    numbers[1] = (floats)_mm256_cvtph_ps(_mm_unpackhi_epi8(zero, lower));
    numbers[2] = (floats)_mm256_cvtph_ps(_mm_unpacklo_epi8(zero, upper));
    numbers[3] = (floats)_mm256_cvtph_ps(_mm_unpackhi_epi8(zero, upper));
}

#else

MXFP4_INLINE void decode(const uint8_t *bytes, floats numbers[VECTORS]) {
    static const float values[] = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                   -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};
    float in_order[MXFP4_BLOCK];
    for (int i = 0; i < MXFP4_BYTES; i++) {
        in_order[2 * i] = values[bytes[i] & 15];
        in_order[2 * i + 1] = values[bytes[i] >> 4];
    }
    memcpy(numbers, in_order, sizeof in_order);
}

#endif

MXFP4_INLINE void load(const float *x, floats inputs[VECTORS]) {
    memcpy(inputs, x, MXFP4_BLOCK * sizeof *x);
}

MXFP4_INLINE void store(const floats numbers[VECTORS], float *out) {
    memcpy(out, numbers, MXFP4_BLOCK * sizeof *out);
}

#endif

#endif
