/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of 16 floats, for the loops in simd_*.h, with the same names as in simd_avx2.h and simd_neon.h. */
#ifndef GRAFT_KERNELS_SIMD_AVX512_H
#define GRAFT_KERNELS_SIMD_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

typedef __m512 vf;

enum {
    VF_WIDTH = 16,
    DOT_ROWS = 4, /* such that rows, and sums of rows times tokens, fit 32 registers */
    DOT_TOKENS = 4,
    SPLIT_ROWS = 4,    /* the same for dot_split */
    MULTIPLY_ROWS = 6, /* such that a row of vectors, and sums of rows times vectors, fit */
    MULTIPLY_VECTORS = 4
};

/* The first n lanes, 0 <= n <= 16. */
INLINE __mmask16 vf_lanes(int64_t n) {
    return (__mmask16)((1u << n) - 1u);
}

INLINE vf vf_zero(void) {
    return _mm512_setzero_ps();
}

INLINE vf vf_set(float value) {
    return _mm512_set1_ps(value);
}

INLINE vf vf_load(const float *p) {
    return _mm512_loadu_ps(p);
}

/* Loads the first n floats; the other lanes are zero. */
INLINE vf vf_load_part(const float *p, int64_t n) {
    return _mm512_maskz_loadu_ps(vf_lanes(n), p);
}

INLINE void vf_store(float *p, vf a) {
    _mm512_storeu_ps(p, a);
}

INLINE void vf_store_part(float *p, vf a, int64_t n) {
    _mm512_mask_storeu_ps(p, vf_lanes(n), a);
}

INLINE vf vf_add(vf a, vf b) {
    return _mm512_add_ps(a, b);
}

INLINE vf vf_sub(vf a, vf b) {
    return _mm512_sub_ps(a, b);
}

INLINE vf vf_mul(vf a, vf b) {
    return _mm512_mul_ps(a, b);
}

INLINE vf vf_div(vf a, vf b) {
    return _mm512_div_ps(a, b);
}

/* a * b + c, rounded once. */
INLINE vf vf_fma(vf a, vf b, vf c) {
    return _mm512_fmadd_ps(a, b, c);
}

/* a > b ? a : b, so that a NaN in either gives b. */
INLINE vf vf_max(vf a, vf b) {
    return _mm512_max_ps(a, b);
}

/* a < b ? a : b */
INLINE vf vf_min(vf a, vf b) {
    return _mm512_min_ps(a, b);
}

INLINE vf vf_abs(vf a) {
    return _mm512_abs_ps(a);
}

/* x < 0 ? a : b */
INLINE vf vf_if_negative(vf x, vf a, vf b) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ), b, a);
}

/* x == y ? a : b */
INLINE vf vf_if_equal(vf x, vf y, vf a, vf b) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, y, _CMP_EQ_OQ), b, a);
}

INLINE vf vf_round(vf a) {
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* a * 2^n for a whole n; right for results that are denormal or overflow. */
INLINE vf vf_scale2(vf a, vf n) {
    return _mm512_scalef_ps(a, n);
}

/* Adds halves: lanes i and i + 8, then i + 4, i + 2 and i + 1. */
INLINE float vf_sum(vf a) {
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* Stores the sums of four vectors, one after another. */
INLINE void vf_store_sums(float *p, vf a, vf b, vf c, vf d) {
    vf ab = vf_add(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
    vf cd = vf_add(_mm512_shuffle_f32x4(c, d, 0x44), _mm512_shuffle_f32x4(c, d, 0xee));
    vf fours = vf_add(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
    vf twos = vf_add(fours, _mm512_permute_ps(fours, 0x4e));
    vf ones = vf_add(twos, _mm512_permute_ps(twos, 0xb1));
    _mm_storeu_ps(p, _mm512_castps512_ps128(_mm512_maskz_compress_ps(0x1111, ones)));
}

INLINE float vf_largest(vf a) {
    return _mm512_reduce_max_ps(a);
}

INLINE vf vf_load_f16(const uint16_t *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

INLINE vf vf_load_f16_part(const uint16_t *p, int64_t n) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(vf_lanes(n), p));
}

INLINE vf vf_from_bf16(__m256i bits) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

INLINE vf vf_load_bf16(const uint16_t *p) {
    return vf_from_bf16(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

INLINE vf vf_load_bf16_part(const uint16_t *p, int64_t n) {
    return vf_from_bf16(_mm256_maskz_loadu_epi16(vf_lanes(n), p));
}

/* Loads one pair of numbers for each lane and returns the first of each pair, widened; the function below returns the
 * second ones. */
INLINE vf vf_even_bf16(const uint16_t *p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(p), 16));
}

INLINE vf vf_odd_bf16(const uint16_t *p) {
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(p), _mm512_set1_epi32((int)0xffff0000u)));
}

/* Every other lane of a, followed by those of b: even lanes here, odd lanes below. */
INLINE vf vf_even(vf a, vf b) {
    const __m512i lanes = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_ps(a, lanes, b);
}

INLINE vf vf_odd(vf a, vf b) {
    const __m512i lanes = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_ps(a, lanes, b);
}

/* Rounded to bf16, to nearest with ties to even; a NaN's payload is cut and made quiet. */
INLINE vf vf_round_bf16(vf a) {
    __m512i bits = _mm512_castps_si512(a);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    __mmask16 nan = _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
    return _mm512_castsi512_ps(_mm512_and_si512(rounded, _mm512_set1_epi32((int)0xffff0000u)));
}

/* Stores the first n as bf16. */
INLINE void vf_store_bf16_part(uint16_t *p, vf a, int64_t n) {
    __m512i bits = _mm512_srli_epi32(_mm512_castps_si512(vf_round_bf16(a)), 16);
    _mm256_mask_storeu_epi16(p, vf_lanes(n), _mm512_cvtepi32_epi16(bits));
}

/* Transposes: element j of rows[i] becomes element i of rows[j]. First pairs and fours within each quarter, then the
 * quarters. */
INLINE void vf_transpose(vf rows[VF_WIDTH]) {
    __m512 pairs[16];
    __m512 fours[16];
    for (int i = 0; i < 16; i += 2) {
        pairs[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        for (int j = 0; j < 2; j++) {
            __m512d a = _mm512_castps_pd(pairs[i + j]);
            __m512d b = _mm512_castps_pd(pairs[i + j + 2]);
            fours[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            fours[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
    }
    for (int j = 0; j < 4; j++) {
        __m512 even_low = _mm512_shuffle_f32x4(fours[j], fours[j + 4], 0x88);
        __m512 odd_low = _mm512_shuffle_f32x4(fours[j], fours[j + 4], 0xdd);
        __m512 even_high = _mm512_shuffle_f32x4(fours[j + 8], fours[j + 12], 0x88);
        __m512 odd_high = _mm512_shuffle_f32x4(fours[j + 8], fours[j + 12], 0xdd);
        rows[j] = _mm512_shuffle_f32x4(even_low, even_high, 0x88);
        rows[j + 4] = _mm512_shuffle_f32x4(odd_low, odd_high, 0x88);
        rows[j + 8] = _mm512_shuffle_f32x4(even_low, even_high, 0xdd);
        rows[j + 12] = _mm512_shuffle_f32x4(odd_low, odd_high, 0xdd);
    }
}

#endif
