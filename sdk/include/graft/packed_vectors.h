/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vectors of packed_loops.h: the compiler's (gcc 12, clang), as wide as the target's registers. A file that
 * includes this is compiled once for each instruction set.
 */
#ifndef GRAFT_PACKED_VECTORS_H
#define GRAFT_PACKED_VECTORS_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "dtype.h"
#include "tensor.h"

#define GRAFT_PACKED_INLINE static inline __attribute__((always_inline, unused))

/* Numbers of 32 bits in a vector. The compiler wants to see which lanes go where: those of two vectors joined in turn
 * (a[0], b[0], a[1], ...), their lower halves and their upper; the even ones of both, and the odd ones; two vectors of
 * half the width one behind the other; and each of the first lanes several times, so that it fills a part of the
 * vector. */
#if defined(__AVX512F__)
#define GRAFT_PACKED_LANES 16
#define GRAFT_PACKED_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define GRAFT_PACKED_ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define GRAFT_PACKED_LOWER(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define GRAFT_PACKED_UPPER(a, b) \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define GRAFT_PACKED_JOIN(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define GRAFT_PACKED_HALVES(a) __builtin_shufflevector(a, a, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
#define GRAFT_PACKED_QUARTERS(a) __builtin_shufflevector(a, a, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
#elif defined(__AVX2__)
#define GRAFT_PACKED_LANES 8
#define GRAFT_PACKED_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define GRAFT_PACKED_ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define GRAFT_PACKED_LOWER(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define GRAFT_PACKED_UPPER(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define GRAFT_PACKED_JOIN(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define GRAFT_PACKED_HALVES(a) __builtin_shufflevector(a, a, 0, 0, 0, 0, 1, 1, 1, 1)
#define GRAFT_PACKED_QUARTERS(a) __builtin_shufflevector(a, a, 0, 0, 1, 1, 2, 2, 3, 3)
#else
#define GRAFT_PACKED_LANES 4
#define GRAFT_PACKED_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define GRAFT_PACKED_ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define GRAFT_PACKED_LOWER(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define GRAFT_PACKED_UPPER(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define GRAFT_PACKED_JOIN(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3)
#define GRAFT_PACKED_HALVES(a) __builtin_shufflevector(a, a, 0, 0, 1, 1)
#define GRAFT_PACKED_QUARTERS(a) (a)
#endif

/* Vectors of a tile, and the outputs of one. */
#define GRAFT_PACKED_VECTORS 4
#define GRAFT_PACKED_TILE (GRAFT_PACKED_VECTORS * GRAFT_PACKED_LANES)

/* Numbers with signs. */
typedef int32_t graft_packed_ints __attribute__((vector_size(GRAFT_PACKED_LANES * 4)));
/* Words of codes, and whatever else is bits. */
typedef uint32_t graft_packed_words __attribute__((vector_size(GRAFT_PACKED_LANES * 4)));
/* Half as many of them. */
typedef uint32_t graft_packed_half_words __attribute__((vector_size(GRAFT_PACKED_LANES * 2)));
/* Numbers that are multiplied. */
typedef float graft_packed_floats __attribute__((vector_size(GRAFT_PACKED_LANES * 4)));

/* What is multiplied: f32, pairs of bf16, or pairs of integers of 16 bits. */
enum { GRAFT_PACKED_EXACT = 0, GRAFT_PACKED_BRAINS = 1, GRAFT_PACKED_INTEGERS = 2 };

/* A vector that begins at any number. Copied by memcpy it may go by way of memory in parts, and to read it back as a
 * whole then takes long. */
typedef graft_packed_words graft_packed_words_at __attribute__((aligned(4)));

/* [any] A vector of words. */
GRAFT_PACKED_INLINE graft_packed_words graft_packed_words_from(const void *from) {
    return *(const graft_packed_words_at *)from;
}

/* Whether the target adds products of integers to sums by one instruction. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define GRAFT_PACKED_VNNI 1
#else
#define GRAFT_PACKED_VNNI 0
#endif

#if defined(__AVX2__)
/* [any] sums + products of integers of 16 bits, those of two neighbours added up. */
GRAFT_PACKED_INLINE graft_packed_ints graft_packed_dot(graft_packed_ints sums, graft_packed_ints a,
                                                       graft_packed_ints b) {
#if defined(__AVX512VNNI__)
    return (graft_packed_ints)_mm512_dpwssd_epi32((__m512i)sums, (__m512i)a, (__m512i)b);
#elif defined(__AVX512F__)
    sums += (graft_packed_ints)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVXVNNI__)
    return (graft_packed_ints)_mm256_dpwssd_avx_epi32((__m256i)sums, (__m256i)a, (__m256i)b);
#else
    sums += (graft_packed_ints)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#endif
    __asm__("" : "+v"(sums)); /* added now: it would add products to each other first, and keep many */
    return sums;
}
#endif

/* [any] All lanes the same. */
GRAFT_PACKED_INLINE graft_packed_words graft_packed_all(uint32_t number) {
    const graft_packed_words zero = {0};
    return zero + number;
}

/* [any] Whole numbers below 2^31 as f32. */
GRAFT_PACKED_INLINE graft_packed_floats graft_packed_convert(graft_packed_words numbers) {
    return __builtin_convertvector((graft_packed_ints)numbers, graft_packed_floats);
}

/* [any] The first `n` words, 1, 2 or 4, each as often as it takes to fill the vector with them in turn. */
GRAFT_PACKED_INLINE graft_packed_words graft_packed_repeat(const int32_t *from, const int n) {
#if defined(__AVX512F__)
    const __m128i some = n == 4 ? _mm_loadu_si128((const __m128i *)(const void *)from) : _mm_loadu_si64(from);
    graft_packed_words words;
    if (n == 1) {
        return graft_packed_all((uint32_t)from[0]);
    }
    words = (graft_packed_words)_mm512_castsi128_si512(some);
#else
    graft_packed_words words = graft_packed_all((uint32_t)from[0]);
    for (int i = 1; i < n; i++) {
        words[i] = (uint32_t)from[i];
    }
#endif
    return n == 1 ? words : n == 2 ? GRAFT_PACKED_HALVES(words) : GRAFT_PACKED_QUARTERS(words);
}

/* [any] One round of sorting `count` vectors (2, 4, 8, 16) so that their lanes become neighbours: after as many rounds
 * as it takes to halve `count` to one, the numbers of lane 0 come first, in the order of the vectors, then those of
 * lane 1. */
GRAFT_PACKED_INLINE void graft_packed_interleave(graft_packed_words *vectors, const int count) {
    graft_packed_words sorted[16];
    for (int i = 0; i < count / 2; i++) {
        sorted[2 * i] = GRAFT_PACKED_LOWER(vectors[i], vectors[i + count / 2]);
        sorted[2 * i + 1] = GRAFT_PACKED_UPPER(vectors[i], vectors[i + count / 2]);
    }
    for (int i = 0; i < count; i++) {
        vectors[i] = sorted[i];
    }
}

/* [any] Turns as many vectors as there are lanes: a vector for each of their numbers. */
GRAFT_PACKED_INLINE void graft_packed_square(graft_packed_words *vectors) {
    for (int round = 1; round < GRAFT_PACKED_LANES; round *= 2) {
        graft_packed_interleave(vectors, GRAFT_PACKED_LANES);
    }
}

/* [any] f32 rounded to bf16, to the nearest, ties to even; in the upper half of each lane, with anything below it. */
GRAFT_PACKED_INLINE graft_packed_words graft_packed_round(graft_packed_floats numbers) {
    graft_packed_words bits = (graft_packed_words)numbers;
    return bits + 0x7fff + ((bits >> 16) & 1);
}

/* [any] Half precision widened: exponents are moved by 112, numbers below 2^-14 included. */
GRAFT_PACKED_INLINE float graft_packed_half(uint16_t half) {
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
GRAFT_PACKED_INLINE graft_packed_floats graft_packed_halves(const uint16_t *halves) {
#if defined(__AVX512F__)
    return (graft_packed_floats)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)halves));
#elif defined(__AVX2__)
    return (graft_packed_floats)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)halves));
#else
    float numbers[GRAFT_PACKED_LANES];
    graft_packed_floats result;
    for (int i = 0; i < GRAFT_PACKED_LANES; i++) {
        numbers[i] = graft_packed_half(halves[i]);
    }
    memcpy(&result, numbers, sizeof result);
    return result;
#endif
}

/* [any] A vector of bf16 numbers. */
GRAFT_PACKED_INLINE graft_packed_floats graft_packed_brains(const uint16_t *halves) {
    typedef uint16_t shorts __attribute__((vector_size(GRAFT_PACKED_LANES * 2)));
    shorts bits;
    memcpy(&bits, halves, sizeof bits);
    return (graft_packed_floats)(__builtin_convertvector(bits, graft_packed_words) << 16);
}

/* [any] Scales `at` to `at + n - 1`; lanes behind n are 0. */
GRAFT_PACKED_INLINE void graft_packed_scales(const struct graft_row_block *scales, int64_t at, int64_t n,
                                             graft_packed_floats out[GRAFT_PACKED_VECTORS]) {
    const int64_t size = scales->dtype == GRAFT_DTYPE_F32 ? 4 : 2;
    const char *from = (const char *)scales->data + at * size;
    float rest[GRAFT_PACKED_TILE] = {0};
    if (n < GRAFT_PACKED_TILE) {
        memcpy(rest, from, (size_t)(n * size));
        from = (const char *)rest;
    }
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        const void *vector = from + v * GRAFT_PACKED_LANES * size;
        if (scales->dtype == GRAFT_DTYPE_F16) {
            out[v] = graft_packed_halves((const uint16_t *)vector);
        } else if (scales->dtype == GRAFT_DTYPE_BF16) {
            out[v] = graft_packed_brains((const uint16_t *)vector);
        } else {
            memcpy(&out[v], vector, sizeof out[v]);
        }
    }
}

#endif
