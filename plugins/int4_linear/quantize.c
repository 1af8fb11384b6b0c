/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize.h"

#include <math.h>
#include <string.h>

#include "graft/convert.h"

/* Codes that the largest weight of a group is tried with: from -7 to -10 and from 6 to 9, in steps of a quarter. */
enum { STEPS = 12 };

/* Weights that are done side by side, and most of a group. */
enum { SIDE = 8, MOST = 128 };

static int64_t group_columns = 32;

void int4_set_group_size(int64_t columns) {
    group_columns = columns;
}

int64_t int4_group_size(void) {
    return group_columns;
}

static int64_t group_size(int64_t columns) {
    (void)columns;
    return group_columns;
}

/* The weight that is furthest from zero, with its sign; NaN if one is. */
static float furthest(const float *weights, int64_t n) {
    float most = 0.0F;
    for (int64_t i = 0; i < n && !isnan(most); i++) {
        most = fabsf(weights[i]) > fabsf(most) || isnan(weights[i]) ? weights[i] : most;
    }
    return most;
}

/* The nearest code, less INT4_ZERO. `factor` is 1 / scale, and weights are such that no product overflows. Adding and
 * subtracting 1.5 * 2^23 rounds to an integer. */
static inline float code_of(float weight, float factor) {
    const float shift = 12582912.0F;
    float code = (weight * factor + shift) - shift;
    code = code < -8.0F ? -8.0F : code;
    return code > 7.0F ? 7.0F : code;
}

/* `n` is a multiple of SIDE. */
static float squared_error(const float *weights, int64_t n, float scale, float factor) {
    float sums[SIDE] = {0}, sum = 0.0F;
    for (int64_t i = 0; i < n; i += SIDE) {
        for (int k = 0; k < SIDE; k++) {
            float off = weights[i + k] - scale * code_of(weights[i + k], factor);
            sums[k] += off * off;
        }
    }
    for (int k = 0; k < SIDE; k++) {
        sum += sums[k];
    }
    return sum;
}

/* Codes go from -8 to 7, so it matters which end the largest weight is at. */
static uint16_t choose_scale(const float *weights, int64_t n, float most) {
    uint16_t best = 0;
    float least = INFINITY;
    for (int i = 0; i <= 2 * STEPS + 1; i++) {
        float code = i <= STEPS ? -7.0F - (float)i / 4.0F : 6.0F + (float)(i - STEPS - 1) / 4.0F;
        uint16_t scale = graft_bf16_from_f32(most / code);
        float rounded = graft_f32_from_bf16(scale), factor = 1.0F / rounded;
        float found = isfinite(factor) ? squared_error(weights, n, rounded, factor) : INFINITY;
        best = found < least ? scale : best;
        least = found < least ? found : least;
    }
    return best;
}

static int32_t quantize(const float *weights, int64_t n, int64_t first, void *codes, void *scale) {
    const float most = furthest(weights, n);
    uint32_t *words = (uint32_t *)codes + first / INT4_CODES;
    float group[MOST] = {0};
    if (!isfinite(most)) {
        return 0;
    }
    memcpy(group, weights, (size_t)n * sizeof *weights);
    const uint16_t chosen = choose_scale(group, (n + SIDE - 1) / SIDE * SIDE, most);
    const float rounded = graft_f32_from_bf16(chosen);
    const float factor = rounded != 0.0F ? 1.0F / rounded : 0.0F; /* zeros, or too small for one in f32 */
    for (int64_t i = 0; i < n; i++) {
        words[i / INT4_CODES] |= (uint32_t)(code_of(group[i], factor) + (float)INT4_ZERO) << 4 * (i % INT4_CODES);
    }
    memcpy(scale, &chosen, sizeof chosen);
    return 1;
}

const struct graft_quantizer int4_quantizer = {
    .code_dtype = GRAFT_DTYPE_I32,
    .scale_dtype = GRAFT_DTYPE_BF16,
    .slots = INT4_CODES,
    .group_size = group_size,
    .quantize = quantize,
};

const struct graft_custom_operation int4_quantize_rows = {GRAFT_QUANTIZER_OPERATION("int4_rows", &int4_quantizer)};
