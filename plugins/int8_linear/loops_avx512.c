/* SPDX-License-Identifier: Apache-2.0 */
/* The loops for AVX-512 F, BW, VL and DQ; compiled for that alone, reached only where int8_loops_get allows it. */
#include <immintrin.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

typedef __m512 vf;

enum { WIDTH = 16, TILE_ROWS = 4, TILE_TOKENS = 4 };

INLINE __mmask16 lanes(int64_t n) {
    return (__mmask16)((1u << n) - 1u);
}

INLINE vf v_zero(void) {
    return _mm512_setzero_ps();
}

INLINE vf v_load(const float *p) {
    return _mm512_loadu_ps(p);
}

INLINE vf v_load_part(const float *p, int64_t n) {
    return _mm512_maskz_loadu_ps(lanes(n), p);
}

INLINE void v_store(float *p, vf a) {
    _mm512_storeu_ps(p, a);
}

INLINE vf v_int8(const int8_t *p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}

INLINE vf v_int8_part(const int8_t *p, int64_t n) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(lanes(n), p)));
}

INLINE vf v_fma(vf a, vf b, vf c) {
    return _mm512_fmadd_ps(a, b, c);
}

INLINE float v_sum(vf a) {
    return _mm512_reduce_add_ps(a);
}

/* |a| where it is larger than `most`, or NaN; else `most`. */
INLINE vf v_larger(vf a, vf most) {
    vf size = _mm512_abs_ps(a);
    __mmask16 take = _mm512_cmp_ps_mask(size, most, _CMP_GT_OQ) | _mm512_cmp_ps_mask(size, size, _CMP_UNORD_Q);
    return _mm512_mask_mov_ps(most, take, size);
}

/* a * factor, rounded to the nearest and held within -127 to 127. */
INLINE void v_store_int8(int8_t *p, vf a, float factor) {
    vf scaled = _mm512_mul_ps(a, _mm512_set1_ps(factor));
    scaled = _mm512_max_ps(_mm512_min_ps(scaled, _mm512_set1_ps(127.0F)), _mm512_set1_ps(-127.0F));
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(scaled)));
}

#include "loops_simd.h"

const struct int8_loops int8_loops_avx512 = {
    .name = "avx512",
    .dot = dot,
    .largest = largest,
    .quantize = quantize,
};
