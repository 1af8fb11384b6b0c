/* SPDX-License-Identifier: Apache-2.0 */
#include "search.h"

#include <math.h>
#include <string.h>

#include "graft/convert.h"

/* The candidates: scales at which a group's largest weight would be -7 to -10, or 6 to 9, in steps of a quarter of a
 * code. */
enum { STEPS = 12 };

/* SIDE: partial sums, for vectors. MOST: maximum weights of a group. */
enum { SIDE = 8, MOST = 256 };

float ct_rounded(float number, graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32   ? number
           : dtype == GRAFT_DTYPE_F16 ? graft_f32_from_f16(graft_f16_from_f32(number))
                                      : graft_f32_from_bf16(graft_bf16_from_f32(number));
}

/* `n` is a multiple of SIDE. */
static float squared_error(const float *weights, int64_t n, float scale, float factor) {
    float sums[SIDE] = {0}, sum = 0.0F;
    for (int64_t i = 0; i < n; i += SIDE) {
        for (int k = 0; k < SIDE; k++) {
            const float off = weights[i + k] - scale * ct_nearest(weights[i + k], factor);
            sums[k] += off * off;
        }
    }
    for (int k = 0; k < SIDE; k++) {
        sum += sums[k];
    }
    return sum;
}

/* Codes go from -8 to 7, so the sign of the scale decides at which end the largest weight is. */
float ct_search_scale(const float *weights, int64_t n, float most, graft_dtype dtype) {
    float group[MOST] = {0}, best = 0.0F, least = INFINITY;
    memcpy(group, weights, (size_t)n * sizeof *weights);
    for (int i = 0; i <= 2 * STEPS + 1; i++) {
        const float code = i <= STEPS ? -7.0F - (float)i / 4.0F : 6.0F + (float)(i - STEPS - 1) / 4.0F;
        const float scale = ct_rounded(most / code, dtype), factor = 1.0F / scale;
        const float found =
            isfinite(factor) ? squared_error(group, (n + SIDE - 1) / SIDE * SIDE, scale, factor) : INFINITY;
        best = found < least ? scale : best;
        least = found < least ? found : least;
    }
    return best;
}
