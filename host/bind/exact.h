/* SPDX-License-Identifier: Apache-2.0 */
/* Widens numbers to f32 and narrows them again without losing a bit, including the payloads of NaNs, which arithmetic
 * would quiet. */
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

/* Finds the number of type `dtype` (f16 or bf16) that widens to these bits. Returns 0 if there is none. */
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

/* Whether numbers of a type may be kept as f32 and narrowed again. */
static inline int graft_exact_is_narrow(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F16 || dtype == GRAFT_DTYPE_BF16 || dtype == GRAFT_DTYPE_F8_E8M0;
}

/* The f32 bits of one number, at any address, of a type that graft_exact_is_narrow accepts. An E8M0 number is an
 * exponent: 255 is NaN, and 2^-127 is a denormal of f32. */
static inline uint32_t graft_exact_widen_at(const void *element, graft_dtype dtype) {
    uint16_t half;
    if (dtype == GRAFT_DTYPE_F8_E8M0) {
        uint32_t exponent = *(const uint8_t *)element;
        return exponent == 255 ? 0x7fc00000u : exponent == 0 ? 0x00400000u : exponent << 23;
    }
    memcpy(&half, element, sizeof half);
    return graft_exact_widen(half, dtype);
}

/* Narrows f32 bits to a number of a type that graft_exact_is_narrow accepts. Returns 0 if the type has no such
 * number. */
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
