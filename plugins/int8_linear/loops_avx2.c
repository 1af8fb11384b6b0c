/* SPDX-License-Identifier: Apache-2.0 */
/* The loops for AVX2, FMA and F16C; compiled for those alone, reached only where int8_loops_get allows it. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef __m256 vf;

enum { WIDTH = 8, TILE_ROWS = 4, TILE_TOKENS = 2 }; /* the sums, the rows and one more fit into 16 registers */

INLINE vf v_zero(void) {
    return _mm256_setzero_ps();
}

INLINE vf v_load(const float *p) {
    return _mm256_loadu_ps(p);
}

INLINE void v_store(float *p, vf a) {
    _mm256_storeu_ps(p, a);
}

/* The first n numbers, then zeros. */
INLINE vf v_load_part(const float *p, int64_t n) {
    float padded[WIDTH] = {0};
    memcpy(padded, p, (size_t)n * sizeof *p);
    return v_load(padded);
}

INLINE vf v_int8(const int8_t *p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
}

INLINE vf v_int8_part(const int8_t *p, int64_t n) {
    int8_t padded[WIDTH] = {0};
    memcpy(padded, p, (size_t)n);
    return v_int8(padded);
}

INLINE vf v_fma(vf a, vf b, vf c) {
    return _mm256_fmadd_ps(a, b, c);
}

INLINE float v_sum(vf a) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 quarter = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)));
}

/* |a| where it is larger than `most`, or NaN; else `most`. */
INLINE vf v_larger(vf a, vf most) {
    vf size = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a);
    vf take = _mm256_or_ps(_mm256_cmp_ps(size, most, _CMP_GT_OQ), _mm256_cmp_ps(size, size, _CMP_UNORD_Q));
    return _mm256_blendv_ps(most, size, take);
}

/* a * factor, rounded to the nearest and held within -127 to 127. */
INLINE void v_store_int8(int8_t *p, vf a, float factor) {
    vf scaled = _mm256_mul_ps(a, _mm256_set1_ps(factor));
    scaled = _mm256_max_ps(_mm256_min_ps(scaled, _mm256_set1_ps(127.0F)), _mm256_set1_ps(-127.0F));
    __m256i whole = _mm256_cvtps_epi32(scaled);
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64((__m128i *)(void *)p, _mm_packs_epi16(words, words));
}

#include "loops_simd.h"

const struct int8_loops int8_loops_avx2 = {
    .name = "avx2",
    .dot = dot,
    .largest = largest,
    .quantize = quantize,
};
