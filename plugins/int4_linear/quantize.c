/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize.h"

#include <math.h>
#include <string.h>

/* Codes that the largest weight of a group is tried with: from -7 to -10 and from 6 to 9, in steps of a quarter. */
enum { STEPS = 12 };

/* Weights that are done side by side. */
enum { SIDE = 8 };

static int64_t blocks(int64_t count, int64_t size) {
    return (count + size - 1) / size;
}

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    const struct graft_value_info *input = shapes->inputs;
    if (shapes->n_inputs != 1 || shapes->n_outputs != 2) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->name, "expected 1 value and 2 targets, got %d and %d",
                               (int)shapes->n_inputs, (int)shapes->n_outputs);
    }
    if (input->rank != 2) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "expected a matrix, got %d dimensions",
                               (int)input->rank);
    }
    struct graft_value_info *words = graft_custom_output(shapes, 0);
    struct graft_value_info *scales = graft_custom_output(shapes, 1);
    words->dtype = GRAFT_DTYPE_I32;
    words->rank = 2;
    words->shape[0] = input->shape[0];
    words->shape[1] = blocks(input->shape[1], INT4_CODES);
    scales->dtype = GRAFT_DTYPE_BF16;
    scales->rank = 2;
    scales->shape[0] = input->shape[0];
    scales->shape[1] = blocks(input->shape[1], INT4_GROUP);
    return GRAFT_OK;
}

/* Rounded to bf16, to the nearest, ties to even: a finite number. */
static uint16_t narrow(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static float widen(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
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

static float squared_error(const float weights[INT4_GROUP], float scale, float factor) {
    float sums[SIDE] = {0}, sum = 0.0F;
    for (int i = 0; i < INT4_GROUP; i += SIDE) {
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
static uint16_t choose_scale(const float weights[INT4_GROUP], float most) {
    uint16_t best = 0;
    float least = INFINITY;
    for (int i = 0; i <= 2 * STEPS + 1; i++) {
        float code = i <= STEPS ? -7.0F - (float)i / 4.0F : 6.0F + (float)(i - STEPS - 1) / 4.0F;
        uint16_t scale = narrow(most / code);
        float factor = 1.0F / widen(scale);
        float found = isfinite(factor) ? squared_error(weights, widen(scale), factor) : INFINITY;
        best = found < least ? scale : best;
        least = found < least ? found : least;
    }
    return best;
}

static uint16_t quantize_group(const float *weights, int64_t n, float most, uint32_t *words) {
    float group[INT4_GROUP] = {0};
    memcpy(group, weights, (size_t)n * sizeof *weights);
    uint16_t scale = choose_scale(group, most);
    float factor = widen(scale) != 0.0F ? 1.0F / widen(scale) : 0.0F; /* zeros, or too small for a factor in f32 */
    for (int64_t i = 0; i < n; i++) {
        words[i / INT4_CODES] |= (uint32_t)(code_of(group[i], factor) + (float)INT4_ZERO) << 4 * (i % INT4_CODES);
    }
    return scale;
}

static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    const int64_t columns = work->inputs[0].shape[1], words = blocks(columns, INT4_CODES);
    const float *weights = work->from[0]; /* [end - begin, columns] */
    uint32_t *codes = work->to[0];        /* [end - begin, words] */
    uint16_t *scales = work->to[1];       /* [end - begin, groups] */
    memset(codes, 0, (size_t)((work->end - work->begin) * words) * sizeof *codes);
    for (int64_t row = work->begin; row < work->end; row++, weights += columns, codes += words) {
        for (int64_t first = 0; first < columns; first += INT4_GROUP) {
            int64_t n = columns - first < INT4_GROUP ? columns - first : INT4_GROUP;
            float most = furthest(weights + first, n);
            if (!isfinite(most)) {
                return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "row %lld has a weight that is not finite",
                                       (long long)row);
            }
            *scales++ = quantize_group(weights + first, n, most, codes + first / INT4_CODES);
        }
    }
    return GRAFT_OK;
}

const struct graft_custom_operation int4_quantize_rows = {
    .struct_size = sizeof int4_quantize_rows,
    .flags = GRAFT_CUSTOM_ROWS | GRAFT_CUSTOM_SEES_F32 | GRAFT_CUSTOM_LOSSY,
    .name = "int4_rows",
    .infer = infer,
    .apply = apply,
};
