/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize.h"

#include <math.h>
#include <string.h>

/* Scales that are tried: the largest weight divided by so much. */
static const float divisors[] = {8.0F, 7.7F, 7.4F, 8.3F, 8.6F, 9.0F, 9.5F, 10.0F};

enum { DIVISORS = sizeof divisors / sizeof divisors[0] };

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

/* The nearest code. `factor` is 1 / scale, and weights are such that no product overflows. */
static float code_of(float weight, float factor) {
    float code = rintf(weight * factor) + (float)INT4_ZERO;
    return code < 0.0F ? 0.0F : code > 15.0F ? 15.0F : code;
}

static float squared_error(const float *weights, int64_t n, float scale, float factor) {
    float sum = 0.0F;
    for (int64_t i = 0; i < n; i++) {
        float off = weights[i] - scale * (code_of(weights[i], factor) - (float)INT4_ZERO);
        sum += off * off;
    }
    return sum;
}

/* The scale of a group: negative where its largest weight is positive, since codes go from -8 to 7. */
static uint16_t choose_scale(const float *weights, int64_t n, float most) {
    uint16_t best = 0;
    float least = INFINITY;
    for (int i = 0; i < DIVISORS; i++) {
        uint16_t scale = narrow(most / -divisors[i]);
        float factor = 1.0F / widen(scale);
        float found = isfinite(factor) ? squared_error(weights, n, widen(scale), factor) : INFINITY;
        best = found < least ? scale : best;
        least = found < least ? found : least;
    }
    return best;
}

static uint16_t quantize_group(const float *weights, int64_t n, float most, uint32_t *words) {
    uint16_t scale = choose_scale(weights, n, most);
    float factor = widen(scale) != 0.0F ? 1.0F / widen(scale) : 0.0F; /* zeros, or too small for a factor in f32 */
    for (int64_t i = 0; i < n; i++) {
        words[i / INT4_CODES] |= (uint32_t)code_of(weights[i], factor) << 4 * (i % INT4_CODES);
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
                return graft_error_set(error, GRAFT_ERROR_MODEL, self->name,
                                       "row %lld has a weight that is not finite", (long long)row);
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
