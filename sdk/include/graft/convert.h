/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of single numbers between f32 and the 16-bit types. Use `kernels->widen` for whole weights. */
#ifndef GRAFT_CONVERT_H
#define GRAFT_CONVERT_H

#include <stdint.h>
#include <string.h>

#include "abi.h"
#include "dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [any] The bits of a number. */
GRAFT_INLINE uint32_t graft_bits_from_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* [any] The number with these bits. */
GRAFT_INLINE float graft_f32_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* [any] Widens a bf16 number, which is exact. */
GRAFT_INLINE float graft_f32_from_bf16(uint16_t bits) {
    return graft_f32_from_bits((uint32_t)bits << 16);
}

/* [any] Rounds to nearest, ties to even. A NaN becomes a quiet NaN with a truncated payload. */
GRAFT_INLINE uint16_t graft_bf16_from_f32(float value) {
    uint32_t bits = graft_bits_from_f32(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (uint16_t)((bits >> 16) | 0x40u);
    }
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* [any] Widens an f16 number, which is exact; a NaN becomes quiet. Multiplying by 2^112 moves the exponent's bias from
 * 15 to 127 and normalises denormals; infinities and NaNs keep their exponent of all ones. */
GRAFT_INLINE float graft_f32_from_f16(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t rest = (uint32_t)(bits & 0x7fffu) << 13;
    if (rest >= 0x0f800000u) {
        uint32_t quiet = rest > 0x0f800000u ? 0x00400000u : 0u;
        return graft_f32_from_bits(sign | 0x7f800000u | (rest & 0x007fffffu) | quiet);
    }
    return graft_f32_from_bits(sign | graft_bits_from_f32(graft_f32_from_bits(rest) * 5.192296858534828e33F));
}

/* [any] Rounds to nearest, ties to even. Numbers that are too large become infinite, and a NaN becomes a quiet NaN.
 * Denormals of f16 are rounded by adding a power of two whose last bit is f16's last bit. */
GRAFT_INLINE uint16_t graft_f16_from_f32(float value) {
    const uint32_t bits = graft_bits_from_f32(value), rest = bits & 0x7fffffffu;
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    if (rest > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u | (rest >> 13 & 0x01ffu));
    }
    if (rest >= 0x477ff000u) { /* 65520 and more */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (rest < 0x38800000u) { /* less than 2^-14 */
        return (uint16_t)(sign | (graft_bits_from_f32(graft_f32_from_bits(rest) + 0.5F) & 0x7ffu));
    }
    return (uint16_t)(sign | (rest - 0x38000000u + 0x0fffu + (rest >> 13 & 1u)) >> 13);
}

/* [any] Sets element `i` of an array of F32, F16 or BF16, rounded. */
GRAFT_INLINE void graft_set_f32_at(void *numbers, graft_dtype dtype, int64_t i, float value) {
    if (dtype == GRAFT_DTYPE_F32) {
        ((float *)numbers)[i] = value;
    } else {
        ((uint16_t *)numbers)[i] = dtype == GRAFT_DTYPE_F16 ? graft_f16_from_f32(value) : graft_bf16_from_f32(value);
    }
}

/* [any] Element `i` of an array of F32, F16 or BF16. */
GRAFT_INLINE float graft_f32_at(const void *numbers, graft_dtype dtype, int64_t i) {
    return dtype == GRAFT_DTYPE_F32   ? ((const float *)numbers)[i]
           : dtype == GRAFT_DTYPE_F16 ? graft_f32_from_f16(((const uint16_t *)numbers)[i])
                                      : graft_f32_from_bf16(((const uint16_t *)numbers)[i]);
}

#ifdef __cplusplus
}
#endif

#endif
