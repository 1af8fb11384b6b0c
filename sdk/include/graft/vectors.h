/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler's vectors (gcc 12, clang), as wide as the target's registers, for loops that are written once and
 * compiled for each instruction set (isa.h).
 */
#ifndef GRAFT_VECTORS_H
#define GRAFT_VECTORS_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define GRAFT_VECTOR_INLINE static inline __attribute__((always_inline, unused))

/* How many numbers of 32 bits a vector has. The compiler wants to see which lanes go where: those of two vectors joined
 * in turn (a[0], b[0], a[1], ...), their lower halves and their upper; and the even ones of both, and the odd ones. */
#if defined(__AVX512F__)
#define GRAFT_VECTOR_LANES 16
#define GRAFT_VECTOR_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define GRAFT_VECTOR_ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define GRAFT_VECTOR_LOWER(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define GRAFT_VECTOR_UPPER(a, b) \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif defined(__AVX2__)
#define GRAFT_VECTOR_LANES 8
#define GRAFT_VECTOR_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define GRAFT_VECTOR_ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define GRAFT_VECTOR_LOWER(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define GRAFT_VECTOR_UPPER(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define GRAFT_VECTOR_LANES 4
#define GRAFT_VECTOR_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define GRAFT_VECTOR_ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define GRAFT_VECTOR_LOWER(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define GRAFT_VECTOR_UPPER(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

/* Numbers with signs. */
typedef int32_t graft_vector_ints __attribute__((vector_size(GRAFT_VECTOR_LANES * 4)));
/* Words of codes, and whatever else is bits. */
typedef uint32_t graft_vector_words __attribute__((vector_size(GRAFT_VECTOR_LANES * 4)));
/* Numbers that are multiplied. */
typedef float graft_vector_floats __attribute__((vector_size(GRAFT_VECTOR_LANES * 4)));

/* A vector that begins at any number. Copied by memcpy it may go by way of memory in parts, and to read it back as a
 * whole then takes long. */
typedef graft_vector_words graft_vector_words_at __attribute__((aligned(4)));

/* [any] A vector of words. */
GRAFT_VECTOR_INLINE graft_vector_words graft_vector_words_from(const void *from) {
    return *(const graft_vector_words_at *)from;
}

/* Whether the target adds products of integers to sums by one instruction. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define GRAFT_VECTOR_VNNI 1
#else
#define GRAFT_VECTOR_VNNI 0
#endif

#if defined(__AVX2__)
/* [any] sums + products of integers of 16 bits, those of two neighbours added up. */
GRAFT_VECTOR_INLINE graft_vector_ints graft_vector_dot(graft_vector_ints sums, graft_vector_ints a,
                                                       graft_vector_ints b) {
#if defined(__AVX512VNNI__)
    return (graft_vector_ints)_mm512_dpwssd_epi32((__m512i)sums, (__m512i)a, (__m512i)b);
#elif defined(__AVX512F__)
    sums += (graft_vector_ints)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVXVNNI__)
    return (graft_vector_ints)_mm256_dpwssd_avx_epi32((__m256i)sums, (__m256i)a, (__m256i)b);
#else
    sums += (graft_vector_ints)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#endif
    __asm__("" : "+v"(sums)); /* added now: it would add products to each other first, and keep many */
    return sums;
}

/* [any] sums + products of unsigned bytes and such with a sign, those of four neighbours added up or, in 16 bits, of
 * two. */
GRAFT_VECTOR_INLINE graft_vector_ints graft_vector_dot_bytes(graft_vector_ints sums, graft_vector_ints a,
                                                             graft_vector_ints b) {
#if defined(__AVX512VNNI__)
    return (graft_vector_ints)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)a, (__m512i)b);
#elif defined(__AVX512F__)
    sums = (graft_vector_ints)_mm512_add_epi16((__m512i)sums, _mm512_maddubs_epi16((__m512i)a, (__m512i)b));
#elif defined(__AVXVNNI__)
    return (graft_vector_ints)_mm256_dpbusd_avx_epi32((__m256i)sums, (__m256i)a, (__m256i)b);
#else
    sums = (graft_vector_ints)_mm256_add_epi16((__m256i)sums, _mm256_maddubs_epi16((__m256i)a, (__m256i)b));
#endif
    __asm__("" : "+v"(sums)); /* added now: the compiler would add products to each other first */
    return sums;
}
#endif

/* [any] One round of sorting `count` vectors (2, 4, 8, 16) so that their lanes become neighbours: after as many rounds
 * as it takes to halve `count` to one, the numbers of lane 0 come first, in the order of the vectors, then those of
 * lane 1. */
GRAFT_VECTOR_INLINE void graft_vector_interleave(graft_vector_words *vectors, const int count) {
    graft_vector_words sorted[16];
    for (int i = 0; i < count / 2; i++) {
        sorted[2 * i] = GRAFT_VECTOR_LOWER(vectors[i], vectors[i + count / 2]);
        sorted[2 * i + 1] = GRAFT_VECTOR_UPPER(vectors[i], vectors[i + count / 2]);
    }
    for (int i = 0; i < count; i++) {
        vectors[i] = sorted[i];
    }
}

/* [any] Turns as many vectors as there are lanes: a vector for each of their numbers. */
GRAFT_VECTOR_INLINE void graft_vector_square(graft_vector_words *vectors) {
    for (int round = 1; round < GRAFT_VECTOR_LANES; round *= 2) {
        graft_vector_interleave(vectors, GRAFT_VECTOR_LANES);
    }
}

/* [any] Half precision widened: exponents are moved by 112, numbers below 2^-14 included. */
GRAFT_VECTOR_INLINE float graft_vector_half(uint16_t half) {
#if defined(__F16C__)
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
#else
    const uint32_t size = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t infinite = size | 0x7f800000U;
    float number;
    memcpy(&number, &size, sizeof number);
    number *= 5.192296858534828e33F; /* 2^112 */
    if ((half & 0x7c00) == 0x7c00) {
        memcpy(&number, &infinite, sizeof number);
    }
    return sign != 0 ? -number : number;
#endif
}

/* [any] A vector of half precision numbers. */
GRAFT_VECTOR_INLINE graft_vector_floats graft_vector_halves(const uint16_t *halves) {
#if defined(__AVX512F__)
    return (graft_vector_floats)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)halves));
#elif defined(__AVX2__)
    return (graft_vector_floats)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)halves));
#else
    float numbers[GRAFT_VECTOR_LANES];
    graft_vector_floats result;
    for (int i = 0; i < GRAFT_VECTOR_LANES; i++) {
        numbers[i] = graft_vector_half(halves[i]);
    }
    memcpy(&result, numbers, sizeof result);
    return result;
#endif
}

/* [any] A vector of bf16 numbers. */
GRAFT_VECTOR_INLINE graft_vector_floats graft_vector_brains(const uint16_t *halves) {
    typedef uint16_t shorts __attribute__((vector_size(GRAFT_VECTOR_LANES * 2)));
    shorts bits;
    memcpy(&bits, halves, sizeof bits);
    return (graft_vector_floats)(__builtin_convertvector(bits, graft_vector_words) << 16);
}

/* [any] The largest of n numbers without its sign; NaN if there is one among them, 0 of none. As integers, since
 * without their signs numbers have the order of their bits, infinity comes next and NaN last: compilers do many at
 * once. */
GRAFT_VECTOR_INLINE float graft_vector_largest(const float *x, int64_t n) {
    uint32_t most = 0;
    float number;
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits &= 0x7fffffff;
        most = bits > most ? bits : most;
    }
    memcpy(&number, &most, sizeof number);
    return number;
}

#endif
