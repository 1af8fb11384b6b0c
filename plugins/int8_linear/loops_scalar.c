/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "loops.h"

static void dot(const struct int8_dot *o) {
    for (int64_t t = 0; t < o->tokens; t++) {
        for (int64_t r = 0; r < o->rows; r++) {
            float sum = 0.0F;
            for (int64_t k = 0; k < o->columns; k++) {
                sum += (float)o->w[r * o->w_stride + k] * o->x[t * o->x_stride + k];
            }
            o->sums[t * o->sums_stride + r] = sum;
        }
    }
}

static float largest(const float *row, int64_t count) {
    float most = 0.0F;
    for (int64_t i = 0; i < count; i++) {
        float size = fabsf(row[i]);
        most = size > most || isnan(size) ? size : most; /* once it is NaN, nothing is larger */
    }
    return most;
}

/* Adding and subtracting 1.5 * 2^23 rounds to an integer, in the rounding mode that there is: ties to even. */
static void quantize(const float *row, int64_t count, float factor, int8_t *out) {
    const float shift = 12582912.0F;
    for (int64_t i = 0; i < count; i++) {
        float scaled = row[i] * factor;
        scaled = scaled > 127.0F ? 127.0F : scaled;
        scaled = scaled < -127.0F ? -127.0F : scaled;
        out[i] = (int8_t)((scaled + shift) - shift);
    }
}

const struct int8_loops int8_loops_scalar = {
    .name = "scalar",
    .dot = dot,
    .largest = largest,
    .quantize = quantize,
};
