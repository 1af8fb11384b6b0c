/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's vectors (gcc 12, clang), as wide as the target's registers, for loops that are written once and
 * compiled for each instruction set (isa.h). */
#ifndef GRAFT_VECTORS_H
#define GRAFT_VECTORS_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define GRAFT_VECTOR_INLINE static inline __attribute__((always_inline, unused))

/* The number of 32-bit lanes of a vector, and shuffles, whose lanes the compiler needs as constants: the lower and the
 * upper halves of two vectors interleaved (a[0], b[0], a[1], ...), and the even and the odd lanes of both. */
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

/* Signed integers. */
typedef int32_t graft_vector_ints __attribute__((vector_size(GRAFT_VECTOR_LANES * 4)));
/* Words of codes, and other bits. */
typedef uint32_t graft_vector_words __attribute__((vector_size(GRAFT_VECTOR_LANES * 4)));
/* Floating-point numbers. */
typedef float graft_vector_floats __attribute__((vector_size(GRAFT_VECTOR_LANES * 4)));

/* [any] A vector with `number` in every lane. */
GRAFT_VECTOR_INLINE graft_vector_floats graft_vector_all(float number) {
    const graft_vector_floats none = {0};
    return number - none; /* subtracting 0 costs nothing; adding it would, since that changes -0 */
}

/* [any] sum + a * b, rounded once where the target has an instruction for that. Compilers that contract `sum + a * b`
 * by themselves do so in some loops and not in others, so that results depend on how many rows or tokens share a loop.
 */
GRAFT_VECTOR_INLINE graft_vector_floats graft_vector_add_product(graft_vector_floats sum, graft_vector_floats a,
                                                                 graft_vector_floats b) {
#if defined(__AVX512F__)
    return (graft_vector_floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)sum);
#elif defined(__AVX2__) && defined(__FMA__)
    return (graft_vector_floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#elif defined(__aarch64__)
    return (graft_vector_floats)vfmaq_f32((float32x4_t)sum, (float32x4_t)a, (float32x4_t)b);
#else
    return sum + a * b;
#endif
}

/* A vector at an address aligned to one number. With memcpy instead, the compiler may copy a vector in parts, and
 * reading the copy as a whole then stalls. */
typedef graft_vector_words graft_vector_words_at __attribute__((aligned(4)));

/* [any] A vector of words. */
GRAFT_VECTOR_INLINE graft_vector_words graft_vector_words_from(const void *from) {
    return *(const graft_vector_words_at *)from;
}

/* Whether the target has an instruction that adds products of integers to sums. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define GRAFT_VECTOR_VNNI 1
#else
#define GRAFT_VECTOR_VNNI 0
#endif

#if defined(__AVX2__)
/* [any] sums + products of 16-bit integers, where the products of two adjacent numbers are added to one sum. */
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
    __asm__(""
            : "+v"(sums)); /* keeps the compiler from first adding products to each other, which needs more registers */
    return sums;
}

/* [any] sums + products of unsigned and signed bytes, where the products of four adjacent numbers are added to one sum;
 * of 16-bit numbers, of two. */
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
    __asm__("" : "+v"(sums)); /* keeps the compiler from first adding products to each other */
    return sums;
}
#endif

/* [any] One round of interleaving `count` vectors (2, 4, 8, 16). After log2(count) rounds, the numbers of lane 0 of all
 * vectors come first, in the order of the vectors, then those of lane 1, and so on. */
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

/* [any] Transposes a square of as many vectors as a vector has lanes. */
GRAFT_VECTOR_INLINE void graft_vector_square(graft_vector_words *vectors) {
    for (int round = 1; round < GRAFT_VECTOR_LANES; round *= 2) {
        graft_vector_interleave(vectors, GRAFT_VECTOR_LANES);
    }
}

/* [any] Widens an f16 number: adds 112 to its exponent, also for denormals. */
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

/* [any] Widens a vector of f16 numbers. */
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

/* [any] Widens a vector of bf16 numbers. */
GRAFT_VECTOR_INLINE graft_vector_floats graft_vector_brains(const uint16_t *halves) {
    typedef uint16_t shorts __attribute__((vector_size(GRAFT_VECTOR_LANES * 2)));
    shorts bits;
    memcpy(&bits, halves, sizeof bits);
    return (graft_vector_floats)(__builtin_convertvector(bits, graft_vector_words) << 16);
}

/* [any] The largest absolute value of n numbers; NaN if one of them is NaN, 0 if n is 0. It compares bits as integers,
 * which compilers vectorise: without signs, numbers are ordered like their bits, and infinity and NaN come last. */
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
