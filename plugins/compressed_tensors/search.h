/* SPDX-License-Identifier: Apache-2.0 */
/* Scales that are searched for. */
#ifndef CT_SEARCH_H
#define CT_SEARCH_H

#include <stdint.h>

#include "graft/dtype.h"

/* [any] A scale for codes of 4 bits, from -8 to 7, as numbers of `dtype` hold it: of some, the one with the smallest
 * sum of squared errors. It may be negative, so that the code -8 is for the largest weight. 0: all weights are, or too
 * small for any. `most` is that largest weight, with its sign; there are 256 weights at most. */
float ct_search_scale(const float *weights, int64_t n, float most, graft_dtype dtype);

/* [any] The nearest code of a weight, -8 to 7. `factor` is 1 / scale. */
static inline float ct_nearest(float weight, float factor) {
    const float shift = 12582912.0F; /* 1.5 * 2^23: adding and subtracting it rounds, ties to even */
    float code = (weight * factor + shift) - shift;
    code = code < -8.0F ? -8.0F : code;
    return code > 7.0F ? 7.0F : code;
}

/* [any] A number as `dtype` has it. */
float ct_rounded(float number, graft_dtype dtype);

#endif
