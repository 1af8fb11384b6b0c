/* SPDX-License-Identifier: Apache-2.0 */
/* What activations count for where products are of integers. */
#ifndef GRAFT_KERNELS_CODED_STEPS_H
#define GRAFT_KERNELS_CODED_STEPS_H

#include "graft/vectors.h"

/* [any] What integers count for, if the largest number among those that share it allows that: 0 if it is below 2^-100,
 * NaN if it is not finite. */
static inline float graft_coded_step_if(float largest, float step) {
    return largest < 7.8886090522101181e-31F ? 0.0F : step + largest * 0.0F;
}

/* [any] What integers of 16 bits count for where activations become such: a power of two, so that the largest of those
 * that share it, without its sign, is from 2^14 to 2^15. They are off by at most 2^-15 of that one; those that are bf16
 * are exact down to its 128th part. 0 if it is below 2^-100: then all count as zeros. NaN if it is not finite. */
static inline float graft_coded_step(float largest) {
    const float rounded_up = largest * 1.000030517578125F; /* 1 + 2^-15 */
    uint32_t bits;
    float power;
    memcpy(&bits, &rounded_up, sizeof bits);
    bits &= 0x7f800000;
    memcpy(&power, &bits, sizeof power);
    return graft_coded_step_if(largest, power / 16384.0F);
}

/* [any] What n activations that share a step are multiplied by to become integers of 16 bits; and the step. */
static inline float graft_coded_factor(const float *x, int64_t n, float *step) {
    *step = graft_coded_step(graft_vector_largest(x, n));
    return *step > 0.0F ? 1.0F / *step : 0.0F;
}

#endif
