/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of 4 floats, for the loops in simd_*.h. The same names as in simd_avx512.h, where they are explained. */
#ifndef GRAFT_KERNELS_SIMD_NEON_H
#define GRAFT_KERNELS_SIMD_NEON_H

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef float32x4_t vf;

enum {
    VF_WIDTH = 4,
    DOT_ROWS = 4, /* in 32 registers */
    DOT_TOKENS = 4,
    SPLIT_ROWS = 4,
    MULTIPLY_ROWS = 6,
    MULTIPLY_VECTORS = 4
};

INLINE vf vf_zero(void) {
    return vdupq_n_f32(0.0f);
}

INLINE vf vf_set(float value) {
    return vdupq_n_f32(value);
}

INLINE vf vf_load(const float *p) {
    return vld1q_f32(p);
}

INLINE vf vf_load_part(const float *p, int64_t n) {
    float four[4] = {0};
    memcpy(four, p, (size_t)n * sizeof *p);
    return vld1q_f32(four);
}

INLINE void vf_store(float *p, vf a) {
    vst1q_f32(p, a);
}

INLINE void vf_store_part(float *p, vf a, int64_t n) {
    float four[4];
    vst1q_f32(four, a);
    memcpy(p, four, (size_t)n * sizeof *p);
}

INLINE vf vf_add(vf a, vf b) {
    return vaddq_f32(a, b);
}

INLINE vf vf_sub(vf a, vf b) {
    return vsubq_f32(a, b);
}

INLINE vf vf_mul(vf a, vf b) {
    return vmulq_f32(a, b);
}

INLINE vf vf_div(vf a, vf b) {
    return vdivq_f32(a, b);
}

INLINE vf vf_fma(vf a, vf b, vf c) {
    return vfmaq_f32(c, a, b);
}

/* NEON's own maximum and minimum are NaN where either number is. */
INLINE vf vf_max(vf a, vf b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

INLINE vf vf_min(vf a, vf b) {
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

INLINE vf vf_abs(vf a) {
    return vabsq_f32(a);
}

INLINE vf vf_if_negative(vf x, vf a, vf b) {
    return vbslq_f32(vcltzq_f32(x), a, b);
}

INLINE vf vf_if_equal(vf x, vf y, vf a, vf b) {
    return vbslq_f32(vceqq_f32(x, y), a, b);
}

INLINE vf vf_round(vf a) {
    return vrndnq_f32(a);
}

/* In two steps, each of which an exponent can hold. */
INLINE vf vf_scale2(vf a, vf n) {
    int32x4_t whole = vcvtq_s32_f32(n);
    int32x4_t half = vshrq_n_s32(whole, 1);
    int32x4_t bias = vdupq_n_s32(127);
    int32x4_t first = vshlq_n_s32(vaddq_s32(half, bias), 23);
    int32x4_t second = vshlq_n_s32(vaddq_s32(vsubq_s32(whole, half), bias), 23);
    return vmulq_f32(vmulq_f32(a, vreinterpretq_f32_s32(first)), vreinterpretq_f32_s32(second));
}

/* By halves: lanes i and i + 2, then i + 1. */
INLINE float vf_sum(vf a) {
    float32x2_t two = vadd_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

INLINE void vf_store_sums(float *p, vf a, vf b, vf c, vf d) {
    vf ab = vaddq_f32(vcombine_f32(vget_low_f32(a), vget_low_f32(b)), vcombine_f32(vget_high_f32(a), vget_high_f32(b)));
    vf cd = vaddq_f32(vcombine_f32(vget_low_f32(c), vget_low_f32(d)), vcombine_f32(vget_high_f32(c), vget_high_f32(d)));
    vst1q_f32(p, vpaddq_f32(ab, cd));
}

INLINE float vf_largest(vf a) {
    return vmaxvq_f32(a);
}

INLINE uint16x4_t vf_load_16bit_part(const uint16_t *p, int64_t n) {
    uint16_t four[4] = {0};
    memcpy(four, p, (size_t)n * sizeof *p);
    return vld1_u16(four);
}

INLINE vf vf_load_f16(const uint16_t *p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}

INLINE vf vf_load_f16_part(const uint16_t *p, int64_t n) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vf_load_16bit_part(p, n)));
}

INLINE vf vf_from_bf16(uint16x4_t bits) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(bits), 16));
}

INLINE vf vf_load_bf16(const uint16_t *p) {
    return vf_from_bf16(vld1_u16(p));
}

INLINE vf vf_load_bf16_part(const uint16_t *p, int64_t n) {
    return vf_from_bf16(vf_load_16bit_part(p, n));
}

INLINE vf vf_even_bf16(const uint16_t *p) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_u16(vld1q_u16(p)), 16));
}

INLINE vf vf_odd_bf16(const uint16_t *p) {
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_u16(vld1q_u16(p)), vdupq_n_u32(0xffff0000u)));
}

INLINE vf vf_even(vf a, vf b) {
    return vuzp1q_f32(a, b);
}

INLINE vf vf_odd(vf a, vf b) {
    return vuzp2q_f32(a, b);
}

INLINE vf vf_round_bf16(vf a) {
    uint32x4_t bits = vreinterpretq_u32_f32(a);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
    uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
    rounded = vbslq_u32(vceqq_f32(a, a), rounded, quiet);
    return vreinterpretq_f32_u32(vandq_u32(rounded, vdupq_n_u32(0xffff0000u)));
}

INLINE void vf_store_bf16_part(uint16_t *p, vf a, int64_t n) {
    uint16_t four[4];
    vst1_u16(four, vshrn_n_u32(vreinterpretq_u32_f32(vf_round_bf16(a)), 16));
    memcpy(p, four, (size_t)n * sizeof *p);
}

INLINE void vf_transpose(vf rows[VF_WIDTH]) {
    float64x2_t pairs[4];
    for (int i = 0; i < 4; i += 2) {
        pairs[i] = vreinterpretq_f64_f32(vtrn1q_f32(rows[i], rows[i + 1]));
        pairs[i + 1] = vreinterpretq_f64_f32(vtrn2q_f32(rows[i], rows[i + 1]));
    }
    for (int i = 0; i < 2; i++) {
        rows[i] = vreinterpretq_f32_f64(vtrn1q_f64(pairs[i], pairs[i + 2]));
        rows[i + 2] = vreinterpretq_f32_f64(vtrn2q_f64(pairs[i], pairs[i + 2]));
    }
}

#endif
