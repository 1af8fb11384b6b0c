/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops in plain C: the reference, and what machines without AVX2 or NEON run. */
#include <math.h>

#include "graft/convert.h"
#include "graft/kernels.h"
#include "kernels/loops.h"

/* Sums are kept in several partial ones: more accurate than a single one, and a compiler can vectorise them. */
enum { PARTS = 16, PACK_ROWS = 16, READ = 64 };

static float read_at(int32_t reading, const void *source, int64_t i) {
    switch (reading) {
    case GRAFT_READ_F32:
        return ((const float *)source)[i];
    case GRAFT_READ_F16:
        return graft_f32_from_f16(((const uint16_t *)source)[i]);
    case GRAFT_READ_BF16:
        return graft_f32_from_bf16(((const uint16_t *)source)[i]);
    case GRAFT_READ_F32_AS_BF16:
        return graft_f32_from_bf16(graft_bf16_from_f32(((const float *)source)[i]));
    case GRAFT_READ_F16_AS_BF16:
        return graft_f32_from_bf16(graft_bf16_from_f32(graft_f32_from_f16(((const uint16_t *)source)[i])));
    default:
        return NAN;
    }
}

static void read_elements(int32_t reading, const void *source, int64_t first, int64_t n, float *out) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = read_at(reading, source, first + i);
    }
}

static float sum_parts(const float *parts) {
    float sum = 0.0f;
    for (int i = 0; i < PARTS; i++) {
        sum += parts[i];
    }
    return sum;
}

static float dot_one(int32_t reading, const void *w, int64_t offset, const float *x, int64_t columns) {
    float parts[PARTS] = {0};
    for (int64_t k = 0; k < columns; k++) {
        parts[k % PARTS] += read_at(reading, w, offset + k) * x[k];
    }
    return sum_parts(parts);
}

static void dot(int32_t reading, const void *w, int64_t w_stride, int64_t rows, int64_t columns, const float *x,
                int64_t x_stride, int64_t tokens, float *y, int64_t y_stride, const void *next) {
    (void)next;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t t = 0; t < tokens; t++) {
            y[t * y_stride + r] = dot_one(reading, w, r * w_stride, x + t * x_stride, columns);
        }
    }
}

static void pack(int32_t reading, const void *w, int64_t w_stride, int64_t rows, int64_t columns, float *out) {
    for (int64_t k = 0; k < columns; k++) {
        for (int64_t r = 0; r < PACK_ROWS; r++) {
            out[k * PACK_ROWS + r] = r < rows ? read_at(reading, w, r * w_stride + k) : 0.0f;
        }
    }
}

/* Elements of `b` are read a few at a time, once for all rows of `a`. */
static void multiply(const float *a, int64_t a_row, int64_t a_step, int64_t rows, int32_t reading, const void *b,
                     int64_t b_stride, int64_t depth, int64_t columns, float *c, int64_t c_stride, const void *next) {
    (void)next;
    float numbers[READ];
    for (int64_t k = 0; k < depth; k++) {
        for (int64_t first = 0; first < columns; first += READ) {
            const int64_t n = columns - first < READ ? columns - first : READ;
            read_elements(reading, b, k * b_stride + first, n, numbers);
            for (int64_t i = 0; i < rows; i++) {
                const float factor = a[i * a_row + k * a_step];
                float *row = c + i * c_stride + first;
                for (int64_t j = 0; j < n; j++) {
                    row[j] += factor * numbers[j];
                }
            }
        }
    }
}

static void pack_pairs(const uint16_t *w, int64_t w_stride, int64_t rows, int64_t columns, uint32_t *out) {
    for (int64_t k = 0; k < columns; k += 2) {
        for (int64_t r = 0; r < PACK_ROWS; r++) {
            uint32_t even = r < rows ? w[r * w_stride + k] : 0;
            uint32_t odd = r < rows && k + 1 < columns ? w[r * w_stride + k + 1] : 0;
            out[k / 2 * PACK_ROWS + r] = odd << 16 | even;
        }
    }
}

static void multiply_pairs(const struct graft_pairs *o) {
    for (int64_t t = 0; t < o->tokens; t++) {
        for (int64_t r = 0; r < o->rows; r++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < o->pairs; k++) {
                const uint16_t *x = o->x + t * o->x_stride + k * o->x_step;
                uint32_t pair = o->w[k * PACK_ROWS + r];
                sum = fmaf(graft_f32_from_bf16(x[1]), graft_f32_from_bf16((uint16_t)(pair >> 16)), sum);
                sum = fmaf(graft_f32_from_bf16(x[0]), graft_f32_from_bf16((uint16_t)pair), sum);
            }
            float *y = o->y + t * o->y_stride + r;
            *y = o->add ? *y + sum : sum;
        }
    }
}

static void pair(int32_t reading, const void *even, const void *odd, int64_t count, uint32_t *out) {
    for (int64_t i = 0; i < count; i++) {
        uint32_t low = graft_bf16_from_f32(read_at(reading, even, i));
        uint32_t high = odd != NULL ? graft_bf16_from_f32(read_at(reading, odd, i)) : 0;
        out[i] = high << 16 | low;
    }
}

static void widen(int32_t reading, const void *source, int64_t count, float *out) {
    read_elements(reading, source, 0, count, out);
}

static void narrow(const float *x, int64_t count, uint16_t *out) {
    for (int64_t i = 0; i < count; i++) {
        out[i] = graft_bf16_from_f32(x[i]);
    }
}

static float sum_of_squares(const float *x, int64_t count) {
    float parts[PARTS] = {0};
    for (int64_t i = 0; i < count; i++) {
        parts[i % PARTS] += x[i] * x[i];
    }
    return sum_parts(parts);
}

static void scale_by(int32_t reading, const void *weight, float offset, const float *x, float factor, int64_t count,
                     float *y) {
    for (int64_t i = 0; i < count; i++) {
        y[i] = (read_at(reading, weight, i) + offset) * (x[i] * factor);
    }
}

static float sum(const float *x, int64_t count) {
    float parts[PARTS] = {0};
    for (int64_t i = 0; i < count; i++) {
        parts[i % PARTS] += x[i];
    }
    return sum_parts(parts);
}

static int64_t multiply_add(int64_t rounds, float *sink) {
    float sums[PARTS] = {0};
    for (int64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < PARTS; i++) {
            sums[i] = sums[i] * 0.5f + *sink;
        }
    }
    *sink = sum_parts(sums);
    return rounds * PARTS;
}

static float centre(const float *x, float middle, int64_t count, float *y) {
    for (int64_t i = 0; i < count; i++) {
        y[i] = x[i] - middle;
    }
    return sum_of_squares(y, count);
}

static void add_stored(int32_t reading, const void *source, int64_t count, float *y) {
    for (int64_t i = 0; i < count; i++) {
        y[i] += read_at(reading, source, i);
    }
}

static void rotate(float *a, float *b, const float *cos, const float *sin, int64_t half) {
    for (int64_t i = 0; i < half; i++) {
        float first = a[i];
        float second = b[i];
        a[i] = first * cos[i] - second * sin[i];
        b[i] = second * cos[half + i] + first * sin[half + i];
    }
}

static float act(int32_t activation, float x) {
    switch (activation) {
    case GRAFT_ACTIVATION_SILU:
        return x / (1.0f + expf(-x));
    case GRAFT_ACTIVATION_GELU:
        return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    case GRAFT_ACTIVATION_GELU_TANH:
        return 0.5f * x * (1.0f + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
    case GRAFT_ACTIVATION_QUICK_GELU:
        return x / (1.0f + expf(-1.702f * x));
    case GRAFT_ACTIVATION_RELU:
        return x < 0.0f ? 0.0f : x;
    case GRAFT_ACTIVATION_RELU2:
        return x < 0.0f ? 0.0f : x * x;
    case GRAFT_ACTIVATION_TANH:
        return tanhf(x);
    case GRAFT_ACTIVATION_SIGMOID:
        return 1.0f / (1.0f + expf(-x));
    default:
        return NAN; /* unreachable: callers check with graft_activation_check */
    }
}

static void activate(int32_t activation, const float *x, int64_t count, float *y) {
    for (int64_t i = 0; i < count; i++) {
        y[i] = act(activation, x[i]);
    }
}

static void activate_gate(int32_t activation, float *gate, const float *up, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        gate[i] = act(activation, gate[i]) * up[i];
    }
}

static void add_scaled(float *y, float factor, const float *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        y[i] += factor * x[i];
    }
}

static void scale(float *x, float factor, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        x[i] *= factor;
    }
}

static float maximum(const float *x, int64_t count) {
    float largest = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        largest = x[i] > largest ? x[i] : largest;
    }
    return largest;
}

static float exp_sum(float *x, float shift, int64_t count) {
    float parts[PARTS] = {0};
    for (int64_t i = 0; i < count; i++) {
        x[i] = expf(x[i] - shift);
        parts[i % PARTS] += x[i];
    }
    return sum_parts(parts);
}

/* As long as all scores of a column were -inf, the maximum is not subtracted, since -inf - -inf is NaN. */
static void columns_softmax(float *scores, int64_t rows, int64_t columns, float *maxima, float *sum, float *factor) {
    for (int64_t j = 0; j < columns; j++) {
        float largest = maxima[j];
        for (int64_t i = 0; i < rows; i++) {
            float score = scores[i * columns + j];
            largest = score > largest ? score : largest;
        }
        float shift = largest == -INFINITY ? 0.0f : largest;
        float total = 0.0f;
        for (int64_t i = 0; i < rows; i++) {
            scores[i * columns + j] = expf(scores[i * columns + j] - shift);
            total += scores[i * columns + j];
        }
        factor[j] = expf(maxima[j] - shift);
        sum[j] = sum[j] * factor[j] + total;
        maxima[j] = largest;
    }
}

static void columns_softmax_pairs(const float *scores, int64_t rows, int64_t columns, float *maximum, float *sum,
                                  float *factor, uint32_t *out) {
    for (int64_t j = 0; j < columns; j++) {
        uint32_t *to = out + j / PACK_ROWS * ((rows + 1) / 2) * PACK_ROWS + j % PACK_ROWS;
        float before = maximum[j];
        float largest = before;
        for (int64_t i = 0; i < rows; i++) {
            largest = scores[i * columns + j] > largest ? scores[i * columns + j] : largest;
        }
        float shift = largest == -INFINITY ? 0.0f : largest;
        float total = 0.0f;
        for (int64_t i = 0; i < rows; i += 2, to += PACK_ROWS) {
            float even = expf(scores[i * columns + j] - shift);
            float odd = i + 1 < rows ? expf(scores[(i + 1) * columns + j] - shift) : 0.0f;
            total = total + even + odd;
            pair(GRAFT_READ_F32, &even, &odd, 1, to);
        }
        factor[j] = expf(before - shift);
        sum[j] = sum[j] * factor[j] + total;
        maximum[j] = largest;
    }
}

static void columns_scale(float *x, int64_t rows, int64_t columns, const float *factor) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            x[i * columns + j] *= factor[j];
        }
    }
}

const struct graft_loops graft_loops_scalar = {
    .pack_rows = PACK_ROWS,
    .dot = dot,
    .pack = pack,
    .multiply = multiply,
    .pack_pairs = pack_pairs,
    .multiply_pairs = multiply_pairs,
    .pair = pair,
    .widen = widen,
    .narrow = narrow,
    .sum_of_squares = sum_of_squares,
    .scale_by = scale_by,
    .sum = sum,
    .multiply_add = multiply_add,
    .centre = centre,
    .add_stored = add_stored,
    .rotate = rotate,
    .activate = activate,
    .activate_gate = activate_gate,
    .add_scaled = add_scaled,
    .scale = scale,
    .maximum = maximum,
    .exp_sum = exp_sum,
    .columns_softmax = columns_softmax,
    .columns_softmax_pairs = columns_softmax_pairs,
    .columns_scale = columns_scale,
};
