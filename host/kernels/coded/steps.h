/* SPDX-License-Identifier: Apache-2.0 */
/* The units of activations that are rounded to integers. */
#ifndef GRAFT_KERNELS_CODED_STEPS_H
#define GRAFT_KERNELS_CODED_STEPS_H

#include "graft/vectors.h"

/* [any] The unit of integers, if the largest number that shares it allows one: 0 if that number is below 2^-100, NaN if
 * it is not finite. */
static inline float graft_coded_step_if(float largest, float step) {
    return largest < 7.8886090522101181e-31F ? 0.0F : step + largest * 0.0F;
}

/* [any] The unit of activations that are rounded to integers of 16 bits: a power of two with which the largest absolute
 * value that shares it is from 2^14 to 2^15. Errors are at most 2^-15 of that value; bf16 numbers of at least a 128th
 * of it are exact. 0 if it is below 2^-100, where all count as zeros. NaN if it is not finite. */
static inline float graft_coded_step(float largest) {
    const float rounded_up = largest * 1.000030517578125F; /* 1 + 2^-15 */
    uint32_t bits;
    float power;
    memcpy(&bits, &rounded_up, sizeof bits);
    bits &= 0x7f800000;
    memcpy(&power, &bits, sizeof power);
    return graft_coded_step_if(largest, power / 16384.0F);
}

/* [any] The factor that turns n activations with a common unit into integers of 16 bits; and that unit. */
static inline float graft_coded_factor(const float *x, int64_t n, float *step) {
    *step = graft_coded_step(graft_vector_largest(x, n));
    return *step > 0.0F ? 1.0F / *step : 0.0F;
}

#endif
