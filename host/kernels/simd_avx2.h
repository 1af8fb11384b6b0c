/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of 8 floats, for the loops in simd_*.h. Names are the same as in simd_avx512.h, which explains them. */
#ifndef GRAFT_KERNELS_SIMD_AVX2_H
#define GRAFT_KERNELS_SIMD_AVX2_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef __m256 vf;

enum {
    VF_WIDTH = 8,
    DOT_ROWS = 4, /* limited by 16 registers */
    DOT_TOKENS = 2,
    SPLIT_ROWS = 3,
    MULTIPLY_ROWS = 6,
    MULTIPLY_VECTORS = 2
};

INLINE __m256i vf_lanes(int64_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

INLINE vf vf_zero(void) {
    return _mm256_setzero_ps();
}

INLINE vf vf_set(float value) {
    return _mm256_set1_ps(value);
}

INLINE vf vf_load(const float *p) {
    return _mm256_loadu_ps(p);
}

INLINE vf vf_load_part(const float *p, int64_t n) {
    return _mm256_maskload_ps(p, vf_lanes(n));
}

INLINE void vf_store(float *p, vf a) {
    _mm256_storeu_ps(p, a);
}

INLINE void vf_store_part(float *p, vf a, int64_t n) {
    _mm256_maskstore_ps(p, vf_lanes(n), a);
}

INLINE vf vf_add(vf a, vf b) {
    return _mm256_add_ps(a, b);
}

INLINE vf vf_sub(vf a, vf b) {
    return _mm256_sub_ps(a, b);
}

INLINE vf vf_mul(vf a, vf b) {
    return _mm256_mul_ps(a, b);
}

INLINE vf vf_div(vf a, vf b) {
    return _mm256_div_ps(a, b);
}

INLINE vf vf_fma(vf a, vf b, vf c) {
    return _mm256_fmadd_ps(a, b, c);
}

INLINE vf vf_max(vf a, vf b) {
    return _mm256_max_ps(a, b);
}

INLINE vf vf_min(vf a, vf b) {
    return _mm256_min_ps(a, b);
}

INLINE vf vf_abs(vf a) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

INLINE vf vf_if_negative(vf x, vf a, vf b) {
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_LT_OQ));
}

INLINE vf vf_if_equal(vf x, vf y, vf a, vf b) {
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, y, _CMP_EQ_OQ));
}

INLINE vf vf_round(vf a) {
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* In two steps, so that each power of two is a normal number. */
INLINE vf vf_scale2(vf a, vf n) {
    __m256i whole = _mm256_cvtps_epi32(n);
    __m256i half = _mm256_srai_epi32(whole, 1);
    __m256i bias = _mm256_set1_epi32(127);
    __m256i first = _mm256_slli_epi32(_mm256_add_epi32(half, bias), 23);
    __m256i second = _mm256_slli_epi32(_mm256_add_epi32(_mm256_sub_epi32(whole, half), bias), 23);
    return _mm256_mul_ps(_mm256_mul_ps(a, _mm256_castsi256_ps(first)), _mm256_castsi256_ps(second));
}

/* Adds halves: lanes i and i + 4, then i + 2 and i + 1. */
INLINE float vf_sum(vf a) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* Stores the sums of four vectors, one after another. */
INLINE void vf_store_sums(float *p, vf a, vf b, vf c, vf d) {
    vf ab = vf_add(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
    vf cd = vf_add(_mm256_permute2f128_ps(c, d, 0x20), _mm256_permute2f128_ps(c, d, 0x31));
    vf twos = vf_add(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
    vf ones = vf_add(_mm256_shuffle_ps(twos, twos, 0x88), _mm256_shuffle_ps(twos, twos, 0xdd));
    _mm_storeu_ps(p, _mm_unpacklo_ps(_mm256_castps256_ps128(ones), _mm256_extractf128_ps(ones, 1)));
}

INLINE float vf_largest(vf a) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

/* The first n of 8 16-bit numbers; AVX2 has no masks for them. */
INLINE __m128i vf_load_16bit_part(const uint16_t *p, int64_t n) {
    uint16_t eight[8] = {0};
    memcpy(eight, p, (size_t)n * sizeof *p);
    return _mm_loadu_si128((const __m128i *)(const void *)eight);
}

INLINE vf vf_load_f16(const uint16_t *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}

INLINE vf vf_load_f16_part(const uint16_t *p, int64_t n) {
    return _mm256_cvtph_ps(vf_load_16bit_part(p, n));
}

INLINE vf vf_from_bf16(__m128i bits) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

INLINE vf vf_load_bf16(const uint16_t *p) {
    return vf_from_bf16(_mm_loadu_si128((const __m128i *)(const void *)p));
}

INLINE vf vf_load_bf16_part(const uint16_t *p, int64_t n) {
    return vf_from_bf16(vf_load_16bit_part(p, n));
}

INLINE vf vf_even_bf16(const uint16_t *p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p), 16));
}

INLINE vf vf_odd_bf16(const uint16_t *p) {
    __m256i both = _mm256_loadu_si256((const __m256i *)(const void *)p);
    return _mm256_castsi256_ps(_mm256_and_si256(both, _mm256_set1_epi32((int)0xffff0000u)));
}

INLINE vf vf_even(vf a, vf b) {
    __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8));
}

INLINE vf vf_odd(vf a, vf b) {
    __m256d odd = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8));
}

INLINE vf vf_round_bf16(vf a) {
    __m256i bits = _mm256_castps_si256(a);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    __m256 nan = _mm256_cmp_ps(a, a, _CMP_UNORD_Q);
    rounded = _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(nan));
    return _mm256_castsi256_ps(_mm256_and_si256(rounded, _mm256_set1_epi32((int)0xffff0000u)));
}

INLINE void vf_store_bf16_part(uint16_t *p, vf a, int64_t n) {
    __m256i bits = _mm256_srli_epi32(_mm256_castps_si256(vf_round_bf16(a)), 16);
    __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
    uint16_t eight[8];
    _mm_storeu_si128((__m128i *)(void *)eight, packed);
    memcpy(p, eight, (size_t)n * sizeof *p);
}

INLINE void vf_transpose(vf rows[VF_WIDTH]) {
    __m256 pairs[8];
    __m256 fours[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        for (int j = 0; j < 2; j++) {
            __m256d a = _mm256_castps_pd(pairs[i + j]);
            __m256d b = _mm256_castps_pd(pairs[i + j + 2]);
            fours[i + 2 * j] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
            fours[i + 2 * j + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
        }
    }
    for (int j = 0; j < 4; j++) {
        rows[j] = _mm256_permute2f128_ps(fours[j], fours[j + 4], 0x20);
        rows[j + 4] = _mm256_permute2f128_ps(fours[j], fours[j + 4], 0x31);
    }
}

#endif
