/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for the scale of a group with the smallest error. */
#ifndef CT_SEARCH_H
#define CT_SEARCH_H

#include <stdint.h>

#include "graft/dtype.h"

/* [any] The scale, as `dtype` can hold it, for 4-bit codes from -8 to 7 that has the smallest sum of squared errors
 * among several candidates. It is negative if the code -8 should stand for the largest weight. Returns 0 if all weights
 * are 0 or too small for any scale. `most` is the largest weight, with its sign; `n` is at most 256. */
float ct_search_scale(const float *weights, int64_t n, float most, graft_dtype dtype);

/* [any] The nearest code of a weight, -8 to 7. `factor` is 1 / scale. */
static inline float ct_nearest(float weight, float factor) {
    const float shift = 12582912.0F; /* 1.5 * 2^23: adding and subtracting it rounds, ties to even */
    float code = (weight * factor + shift) - shift;
    code = code < -8.0F ? -8.0F : code;
    return code > 7.0F ? 7.0F : code;
}

/* [any] Rounds a number to `dtype`. */
float ct_rounded(float number, graft_dtype dtype);

#endif
