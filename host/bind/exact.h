/* SPDX-License-Identifier: Apache-2.0 */
/* Widening to f32 and back without a bit lost, NaNs with their payloads included: arithmetic would make them quiet. */
#ifndef GRAFT_BIND_EXACT_H
#define GRAFT_BIND_EXACT_H

#include <stdint.h>
#include <string.h>

#include "graft/convert.h"
#include "graft/dtype.h"

/* The f32 bits of an f16 or bf16 number. */
static inline uint32_t graft_exact_widen(uint16_t half, graft_dtype dtype) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    if (dtype == GRAFT_DTYPE_BF16) {
        return (uint32_t)half << 16;
    }
    if ((half & 0x7c00u) == 0x7c00u) {
        return sign | 0x7f800000u | (uint32_t)(half & 0x03ffu) << 13;
    }
    return graft_bits_from_f32(graft_f32_from_f16(half));
}

/* The number of type `dtype` (f16 or bf16) that widens to these bits. Returns 0 when there is none. */
static inline int graft_exact_narrow(uint32_t bits, graft_dtype dtype, uint16_t *half) {
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t fraction = bits & 0x007fffffu;
    int exponent = (int)(bits >> 23 & 0xffu) - 127;
    if (dtype == GRAFT_DTYPE_BF16) {
        *half = (uint16_t)(bits >> 16);
        return (bits & 0xffffu) == 0;
    }
    if (exponent == 128) { /* infinity or NaN */
        *half = (uint16_t)(sign | 0x7c00u | fraction >> 13);
    } else if (exponent >= -14) {
        *half = (uint16_t)(sign | (uint32_t)(exponent + 15) << 10 | fraction >> 13);
    } else if (exponent >= -24) { /* a denormal of f16 */
        *half = (uint16_t)(sign | (fraction | 0x00800000u) >> -(exponent + 1));
    } else {
        *half = (uint16_t)sign;
    }
    return (exponent <= 15 || exponent == 128) && graft_exact_widen(*half, dtype) == bits;
}

/* Whether numbers of a type may lie in memory as f32, and go back from there. */
static inline int graft_exact_is_narrow(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16 || dtype == GRAFT_DTYPE_F8_E8M0;
}

/* The same of one number of such a type, wherever it lies. A power of two is its exponent, 255 is NaN, and of 2^-127
 * f32 has a denormal. */
static inline uint32_t graft_exact_widen_at(const void *element, graft_dtype dtype) {
    uint16_t half;
    if (dtype == GRAFT_DTYPE_F8_E8M0) {
        uint32_t exponent = *(const uint8_t *)element;
        return exponent == 255 ? 0x7fc00000u : exponent == 0 ? 0x00400000u : exponent << 23;
    }
    memcpy(&half, element, sizeof half);
    return graft_exact_widen(half, dtype);
}

/* Returns 0 where there is no such number. */
static inline int graft_exact_narrow_at(uint32_t bits, graft_dtype dtype, void *element) {
    uint16_t half;
    if (dtype == GRAFT_DTYPE_F8_E8M0) {
        uint8_t exponent = (uint8_t)(bits == 0x7fc00000u ? 255 : bits >> 23);
        *(uint8_t *)element = exponent;
        return graft_exact_widen_at(element, dtype) == bits;
    }
    int fits = graft_exact_narrow(bits, dtype, &half);
    memcpy(element, &half, sizeof half);
    return fits;
}

#endif
